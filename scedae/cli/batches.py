"""Read a table a batch at a time, so that it may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from scedae.cli.checks import (
    refuse_not_finite,
    require_columns,
)
from scedae.cli.messages import InputError
from scedae.cli.sources import Source
from scedae.cli.tables import (
    Choice,
    numbers,
    open_array,
    polars_errors,
    separator,
)

# Numbers of one batch: 16 MB of float64.
_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True)
class Batch:
    """Some rows of a table, and their ids."""

    ids: np.ndarray
    rows: np.ndarray  # (n, d)


def read_batches(
    source: Source, n_columns: int, names: list[str] | None, id_column: str | None
) -> Iterator[Batch]:
    """All rows in their order, with the columns of a model.

    ``names`` are those of the model's fit; they are looked for in files whose columns
    have names. Else the columns count by their place, the ids left out.
    """
    height = max(_BATCH_NUMBERS // n_columns, 1)
    if source.is_frame:
        return _frame_batches(source, n_columns, names, id_column, height)
    return _array_batches(source, n_columns, id_column, height)


def _array_batches(
    source: Source, n_columns: int, id_column: str | None, height: int
) -> Iterator[Batch]:
    table = open_array(source, Choice(id_column=id_column))
    X = table.array
    _require_width(source, X.shape[1], n_columns)
    for start in range(0, len(X), height):
        rows = X[start : start + height]
        refuse_not_finite(source, rows, start)
        yield Batch(table.ids[start : start + height], rows)


def _frame_batches(
    source: Source,
    n_columns: int,
    names: list[str] | None,
    id_column: str | None,
    height: int,
) -> Iterator[Batch]:
    present = _scan(source, {}).collect_schema().names()
    extra = [] if id_column is None else [id_column]
    require_columns(source, [*(names or []), *extra], present)
    features = names or Choice(id_column=id_column).features(source, present)
    _require_width(source, len(features), n_columns)
    # What is no number becomes a missing one, which is then named with its row.
    scan = _scan(source, dict.fromkeys(features, pl.Float64)).select(*extra, *features)
    start = 0
    for frame in polars_errors(source, lambda: scan.collect_batches(chunk_size=height)):
        rows = numbers(source, frame.select(features), start)
        ids = np.arange(start, start + frame.height)
        if id_column is not None:
            ids = frame[id_column].cast(pl.String).to_numpy()
        yield Batch(ids, rows.to_numpy())
        start += frame.height
    if start == 0:
        raise InputError(f"{source.given} has column names, but no rows.")


def _scan(source: Source, types: dict[str, type[pl.Float64]]) -> pl.LazyFrame:
    if source.suffix == ".parquet":
        return pl.scan_parquet(source.path)
    return pl.scan_csv(
        source.path,
        separator=separator(source),
        infer_schema=False,
        schema_overrides=types,
        ignore_errors=True,
    )


def _require_width(source: Source, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(
            f"{source.given} has {found} columns; the model was fitted on {expected}."
        )
