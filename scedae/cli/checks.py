"""Numbers that cannot be used, found and named by file, row and column."""

from __future__ import annotations

import numpy as np
import polars as pl

from scedae.cli.messages import InputError
from scedae.cli.sources import Source

# More names than this make no line that anybody reads.
_NAMES_SHOWN = 8
# Numbers looked at in one go: no second copy of a large array.
_CHECK_NUMBERS = 1 << 22


def listed(names: list[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(names[:_NAMES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def require_columns(source: Source, wanted: list[str], present: list[str]) -> None:
    have = set(present)
    missing = [repr(name) for name in wanted if name not in have]
    if missing:
        raise InputError(
            f"{source.given} has no column {listed(missing)}; it has "
            f"{listed([repr(name) for name in present])}."
        )


def refuse_text(source: Source, frame: pl.DataFrame) -> None:
    """An error that lists the text columns, with what is text in them."""
    # The schema is built anew each time it is asked for: ask once.
    text = [name for name, dtype in frame.schema.items() if not is_number(dtype)]
    if not text:
        return
    shown = [f"{c!r} ({_example(frame[c])})" for c in text[:_NAMES_SHOWN]]
    shown += ["…"] * (len(text) - len(shown))
    raise InputError(
        f"{source.given}: not numbers: {listed(shown)}. Leave columns out with --drop "
        f"{_flag_value(text)}, or name one with --id-column."
    )


def is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _example(column: pl.Series) -> str:
    """The first value of a column that is no number, and its row."""
    if column.dtype != pl.String:
        return str(column.dtype)
    text = column.is_not_null() & column.cast(pl.Float64, strict=False).is_null()
    rows = text.arg_true()
    if len(rows) == 0:
        return "no values"
    return f"{column[rows[0]]!r} in row {rows[0]}"


def _flag_value(names: list[str]) -> str:
    joined = ",".join(names)
    return f"'{joined}'" if " " in joined else joined


def refuse_missing(source: Source, frame: pl.DataFrame, first_row: int = 0) -> None:
    """The first value of a numeric frame that is missing or not finite, as an error."""
    # One look at all numbers; to ask each column costs seconds when they are many.
    values = frame.to_numpy()
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    found = []
    for column in frame.iter_columns():
        bad = column.is_null()
        if column.dtype.is_float():
            bad = bad | ~column.is_finite().fill_null(False)
        if bad.any():
            row = int(bad.arg_true()[0])
            found.append((row, column.name, column[row]))
    row, name, value = min(found, key=lambda place: place[0])
    what = "no number" if value is None else str(value)
    row += first_row
    # The header is line 1.
    line = "" if source.suffix == ".parquet" else f" (line {row + 2})"
    raise InputError(
        f"{source.given}: row {row}{line}, column {name!r} has {what}. Fill such "
        "values, or leave out the row or the column (--drop)."
    )


def refuse_not_finite(source: Source, X: np.ndarray, first_row: int = 0) -> None:
    """The same for an array."""
    if X.dtype.kind != "f":
        return
    step = max(_CHECK_NUMBERS // X.shape[1], 1)
    for start in range(0, len(X), step):
        bad = ~np.isfinite(X[start : start + step])
        if not bad.any():
            continue
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"{source.given}: row {first_row + start + row}, column {column} has "
            f"{X[start + row, column]}. Fill such values, or leave out the row."
        )
