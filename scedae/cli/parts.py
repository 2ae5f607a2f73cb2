"""Read a table a part at a time, so that it may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from scedae._formats import library_errors
from scedae._tables.encoder import TableEncoder
from scedae._tables.table_files import file_table
from scedae._tables.text_files import TextFormat
from scedae._tables.values import POINT, to_numbers, without_gaps
from scedae.cli.arrays import chosen_columns, load_array
from scedae.cli.checks import refuse_bad_numbers, refuse_gaps, require_columns
from scedae.cli.choice import Choice, Reading
from scedae.cli.messages import InputError, errors_of
from scedae.cli.sources import CELLS_SUFFIX, Source
from scedae.cli.tables import ids_of, load_table

# Numbers of one part: 16 MB of float64.
_PART_NUMBERS = 1 << 21


@dataclass(frozen=True)
class Part:
    """Some rows of a table, and their ids."""

    ids: np.ndarray
    rows: np.ndarray  # (n, d)
    unknown: dict[str, int]  # cells unlike all that the fit saw, by column
    kept: pl.DataFrame | None = None  # all columns but that of the ids, as they were


@dataclass(frozen=True)
class Wanted:
    """What a model expects of a table."""

    n_columns: int
    names: list[str] | None  # of the columns that it was fitted on
    learnt: dict[str, Any] | None  # how a table became those columns
    keep: bool = False  # whether the columns of the table are wanted as well


def read_parts(
    source: Source, wanted: Wanted, id_column: str | None, reading: Reading
) -> Iterator[Part]:
    """All rows in their order, with the columns of a model.

    A table is read as the one of the fit was. Where the fit had none, names are looked
    for in files whose columns have names; else columns count by their place.
    """
    height = max(_PART_NUMBERS // wanted.n_columns, 1)
    if not source.is_frame:
        return _array_parts(source, wanted, id_column, height)
    encode = None
    if wanted.learnt is not None:
        encode = TableEncoder.from_json(wanted.learnt["encoder"])
    return _frame_parts(source, wanted, encode, id_column, reading, height)


def _array_parts(
    source: Source, wanted: Wanted, id_column: str | None, height: int
) -> Iterator[Part]:
    about = None
    if not source.is_dataset and source.suffix == CELLS_SUFFIX:
        table = load_table(source, Choice(), Reading())
        X, ids, about = table.array, table.ids, table.about
    else:
        X, _ = load_array(source, None)
        X, ids, names = chosen_columns(source, X, Choice(id_column=id_column))
        if wanted.keep:
            about = pl.DataFrame(X, names or [str(i) for i in range(X.shape[1])])
    _require_width(source, X.shape[1], wanted.n_columns)
    for start in range(0, len(X), height):
        rows = X[start : start + height]
        refuse_bad_numbers(source, rows, start)
        kept = (
            about[start : start + height] if wanted.keep and about is not None else None
        )
        yield Part(ids[start : start + height], rows, {}, kept)


def _frame_parts(
    source: Source,
    wanted: Wanted,
    encoder: TableEncoder | None,
    id_column: str | None,
    reading: Reading,
    height: int,
) -> Iterator[Part]:
    start = 0
    form = TextFormat(reading.separator, _header(wanted, reading))
    with (
        errors_of(source.given),
        library_errors(pl.exceptions.PolarsError),
        file_table(source.path, form, reading.sheet) as table,
    ):
        id_column = id_column or _known_id(wanted, table.names)
        columns = _columns(source, wanted, encoder, id_column, table.names)
        extra = [] if id_column is None or id_column in columns else [id_column]
        chosen = table.names if wanted.keep else [*extra, *columns]
        for frame in table.batches(chosen, height):
            ids = ids_of(frame, id_column, start)
            part = _part(source, frame.select(columns), ids, encoder, start)
            if wanted.keep:
                part = replace(part, kept=frame.drop([id_column] if id_column else []))
            yield part
            start += frame.height
    if start == 0:
        raise InputError(f"{source.given} has column names, but no rows.")


def _known_id(wanted: Wanted, present: list[str]) -> str | None:
    """The column that named the rows of the fit, where it is there again."""
    known = None if wanted.learnt is None else wanted.learnt["id_column"]
    return known if known in present else None


def _header(wanted: Wanted, reading: Reading) -> bool | None:
    if reading.header is not None or wanted.learnt is None:
        return reading.header
    return wanted.learnt["header"]


def _columns(
    source: Source,
    wanted: Wanted,
    encoder: TableEncoder | None,
    id_column: str | None,
    present: list[str],
) -> list[str]:
    """Names of the columns that are read, all of them there."""
    names = wanted.names
    if encoder is not None:
        names = [column.name for column in encoder.columns_]
    extra = [] if id_column is None else [id_column]
    require_columns(source, [*(names or []), *extra], present)
    if names is None:
        names = Choice(id_column=id_column).features(source, present)
        _require_width(source, len(names), wanted.n_columns)
    return names


def _part(
    source: Source,
    frame: pl.DataFrame,
    ids: np.ndarray,
    encoder: TableEncoder | None,
    start: int,
) -> Part:
    if encoder is not None:
        encoded = encoder.encode(frame)
        return Part(ids, encoded.rows, encoded.unknown)
    plain = [to_numbers(without_gaps(c), POINT) for c in frame.iter_columns()]
    rows = pl.DataFrame(plain).to_numpy()
    refuse_gaps(source, frame.columns, rows, start)
    return Part(ids, rows, {})


def _require_width(source: Source, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(
            f"{source.given} has {found} columns; the model was fitted on {expected}."
        )
