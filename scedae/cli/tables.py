"""Read a whole table: the columns to cluster, ids, and labels to score with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl

from scedae.cli.checks import (
    refuse_missing,
    refuse_not_finite,
    refuse_text,
    require_columns,
)
from scedae.cli.messages import InputError, note
from scedae.cli.sources import Source

# The value of --labels for a data set, whose labels are no column of it.
KNOWN = "known"


@dataclass(frozen=True)
class Choice:
    """Which columns are what; no columns means all that are left."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id_column: str | None = None
    labels: str | None = None

    def features(self, source: Source, present: list[str]) -> list[str]:
        """Names of the columns to cluster, in the order asked for or of the file."""
        special = [name for name in (self.id_column, self.labels) if name is not None]
        require_columns(source, [*self.columns, *self.drop], present)
        if wrong := set(self.columns) & set(special):
            raise InputError(
                f"column {min(wrong)!r} cannot be in --columns too: ids and labels are "
                "never clustered."
            )
        left_out = {*self.drop, *special}
        chosen = [c for c in self.columns or present if c not in left_out]
        if not chosen:
            raise InputError(f"{source.given}: no columns are left to cluster.")
        return chosen


@dataclass(frozen=True)
class Table:
    """Rows to cluster, with what belongs to them."""

    rows: pl.DataFrame | np.ndarray  # (n, d); a frame where columns have names
    ids: np.ndarray  # (n,) of the id column, else the numbers of the rows
    labels: np.ndarray | None  # (n,) known classes, for scoring
    columns: list[str] | None  # (d,) names, or numbers where only some were chosen

    @property
    def array(self) -> np.ndarray:
        rows = self.rows
        return rows.to_numpy() if isinstance(rows, pl.DataFrame) else rows


def read_table(source: Source, choice: Choice) -> Table:
    """All rows of a file or a data set, checked, in memory (.npy: memory-mapped)."""
    if source.is_frame:
        return _read_frame(source, choice)
    table = open_array(source, choice)
    refuse_not_finite(source, table.array)
    return table


def _read_frame(source: Source, choice: Choice) -> Table:
    frame = _load_frame(source)
    features = choice.features(source, frame.columns)
    extra = [name for name in (choice.id_column, choice.labels) if name is not None]
    require_columns(source, extra, frame.columns)
    _refuse_wrong_separator(source, frame.columns)
    if frame.height == 0:
        raise InputError(f"{source.given} has column names, but no rows.")
    _note_missing_header(source, features)
    rows = numbers(source, frame.select(features))
    ids = np.arange(frame.height)
    if choice.id_column is not None:
        ids = frame[choice.id_column].cast(pl.String).to_numpy()
    labels = None if choice.labels is None else _labels(source, frame[choice.labels])
    return Table(rows, ids, labels, features)


def _load_frame(source: Source) -> pl.DataFrame:
    if source.suffix == ".parquet":
        return polars_errors(source, lambda: pl.read_parquet(source.path))
    # All lines are looked at before a column gets its type.
    return polars_errors(
        source,
        lambda: pl.read_csv(
            source.path, separator=separator(source), infer_schema_length=None
        ),
    )


def separator(source: Source) -> str:
    return "\t" if source.suffix == ".tsv" else ","


def polars_errors(source: Source, read: Callable[[], Any]) -> Any:
    """What ``read`` returns; an error of polars becomes one that names the file."""
    try:
        return read()
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().split("\n")[0]
        if "more fields than defined" in reason:
            reason = "a line has more fields than the first one"
        raise InputError(f"{source.given} cannot be read: {reason}.") from error


def numbers(source: Source, frame: pl.DataFrame, first_row: int = 0) -> pl.DataFrame:
    """The frame in types that numpy knows, after a look for what is no number."""
    refuse_text(source, frame)
    plain = frame.cast({pl.Boolean: pl.UInt8, pl.Decimal: pl.Float64})
    refuse_missing(source, plain, first_row)
    return plain


def _labels(source: Source, column: pl.Series) -> np.ndarray:
    if column.null_count():
        row = column.is_null().arg_true()[0]
        raise InputError(
            f"{source.given}: row {row}, column {column.name!r} has no label to score "
            "with."
        )
    return column.cast(pl.String).to_numpy()


def _refuse_wrong_separator(source: Source, names: list[str]) -> None:
    if source.suffix == ".parquet" or len(names) > 1:
        return
    for mark, word in ((";", "';'"), ("\t", "tabs"), (",", "commas"), ("|", "'|'")):
        if mark in names[0]:
            raise InputError(
                f"{source.given} seems to separate its columns by {word}. Columns of "
                "a .csv are separated by commas, those of a .tsv by tabs."
            )


def _note_missing_header(source: Source, names: list[str]) -> None:
    """The first line of a text file names the columns; numbers are odd names."""
    counted = [[str(start + i) for i in range(len(names))] for start in (0, 1)]
    if source.suffix == ".parquet" or names in counted:
        return
    try:
        np.asarray(names, dtype=np.float64)
    except ValueError:
        return
    note(f"warning: the first line of {source.given} was taken for column names.")


def open_array(source: Source, choice: Choice) -> Table:
    """Rows without names; those of an .npy stay in their file until they are read."""
    X, labels = _load_array(source, choice.labels)
    columns = None
    ids = np.arange(len(X))
    if choice.columns or choice.drop or choice.id_column is not None:
        numbers = [str(i) for i in range(X.shape[1])]
        plain = Choice(choice.columns, choice.drop, choice.id_column)
        columns = plain.features(source, numbers)
        if choice.id_column is not None:
            require_columns(source, [choice.id_column], numbers)
            ids = X[:, int(choice.id_column)]
        X = X[:, [int(name) for name in columns]]
    return Table(X, ids, labels, columns)


def _load_array(
    source: Source, labels: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    if source.is_dataset:
        if labels not in (None, KNOWN):
            raise InputError(f"--labels for a data set is {KNOWN!r}, not {labels!r}.")
        X, y = source.dataset
        return X, y if labels else None
    try:
        loaded = np.load(source.path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"{source.given} cannot be read: {error}") from error
    if isinstance(loaded, np.ndarray):
        if labels is not None:
            raise InputError(f"{source.given} has no labels beside its rows.")
        # A plain view: what a command writes is the same for every way to store rows.
        return numeric_matrix(source, np.asarray(loaded)), None
    with loaded:
        return _from_archive(source, dict(loaded), labels)


def _from_archive(
    source: Source, arrays: dict[str, np.ndarray], labels: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """The array X of an .npz, or the only matrix in it; labels by their name."""
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    name = "X" if "X" in arrays else matrices[0] if len(matrices) == 1 else None
    if name is None:
        raise InputError(
            f"{source.given} must hold one matrix, or one named X; it holds "
            f"{', '.join(arrays) or 'nothing'}."
        )
    X = numeric_matrix(source, arrays[name])
    if labels is None:
        return X, None
    require_columns(source, [labels], list(arrays))
    y = arrays[labels]
    if y.shape != (len(X),):
        raise InputError(
            f"{source.given}: {labels!r} has shape {y.shape}; {len(X)} labels are "
            "needed."
        )
    return X, y


def numeric_matrix(source: Source, array: np.ndarray) -> np.ndarray:
    if array.ndim != 2 or array.dtype.kind not in "buif":
        raise InputError(
            f"{source.given} holds {array.dtype} of shape {array.shape}; a matrix of "
            "numbers (rows, columns) is needed."
        )
    if 0 in array.shape:
        raise InputError(f"{source.given} has no rows: its shape is {array.shape}.")
    return array
