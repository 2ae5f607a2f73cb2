"""What cannot be used, found and named by file, row and column."""

from __future__ import annotations

import numpy as np

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


def refuse_gaps(
    source: Source, names: list[str], X: np.ndarray, first_row: int = 0
) -> None:
    """The same for columns with names, with the number of such cells in one column."""
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    count = int(bad[:, column].sum())
    raise InputError(
        f"{source.given}: column {names[column]!r} has {count:,} cells that are no "
        f"numbers, the first in row {first_row + row}. The model was fitted on an "
        "array, which had no gaps: fill them, or fit on a table."
    )


def refuse_bad_numbers(source: Source, X: np.ndarray, first_row: int = 0) -> None:
    """The first number of an array that is not finite, as an error."""
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
