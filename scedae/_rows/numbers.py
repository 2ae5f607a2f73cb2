"""Numbers a network can take: which types, and none that is not finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

# Numbers looked at in one go when searching for NaN: no second copy of the data.
_CHECK_NUMBERS = 1 << 22

# Integers up to 16 bits are exact in float32; longer ones, and float64, keep double
# precision until they are scaled, so that a column like 1e9 + {0, 1} survives.
_SHORT_DTYPES = (np.uint8, np.int8, np.int16, np.uint16, np.float16, np.float32)


def working_dtype(dtype: np.dtype) -> torch.dtype:
    """The type in which numbers are scaled."""
    return torch.float32 if dtype.type in _SHORT_DTYPES else torch.float64


def checked_tensor(
    part: np.ndarray, first_row: int, names: Sequence[str] | None
) -> torch.Tensor:
    """A block that was read, as a tensor; or the place of its first bad number."""
    part = plain_dtype(part)
    refuse_not_finite(part, names, first_row)
    return torch.from_numpy(
        np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("="))
    )


def plain_dtype(X: Any) -> Any:
    """A type torch can take: no booleans, half precision or long unsigned ones."""
    if X.dtype == bool:
        return X.astype(np.uint8)
    if X.dtype == np.float16:
        return X.astype(np.float32)
    if X.dtype in (np.uint16, np.uint32):
        return X.astype(np.int64)
    if X.dtype == np.uint64 or X.dtype.itemsize > 8:
        return X.astype(np.float64)
    return X


def refuse_not_finite(X: Any, names: Sequence[str] | None, first_row: int = 0) -> None:
    """An error that names the first NaN or infinity; X starts at ``first_row``."""
    if X.dtype.kind != "f":
        return
    values = X.data if sp.issparse(X) else X
    step = max(_CHECK_NUMBERS // max(values[:1].size, 1), 1)
    for start in range(0, len(values), step):
        part = values[start : start + step]
        # A sum is finite unless some value is not (or it overflows: then look).
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.sum(part)
        if np.isfinite(total) or np.isfinite(part).all():
            continue
        first = tuple(np.argwhere(~np.isfinite(part))[0])
        row, column = _place(X, start + int(first[0]), first)
        what = "NaN" if np.isnan(part[first]) else "infinity"
        name = f"'{names[column]}'" if names is not None else str(column)
        raise ValueError(
            f"X contains {what} (NaN or infinity are not accepted): first in row "
            f"{first_row + row}, column {name}. Fill missing values "
            "(sklearn.impute.SimpleImputer) or drop those rows."
        )


def _place(X: Any, index: int, first: tuple[Any, ...]) -> tuple[int, int]:
    """Row and column of an entry, for sparse ones by its place in the data."""
    if not sp.issparse(X):
        return index, int(first[1])
    row = int(np.searchsorted(X.indptr, index, side="right")) - 1
    return row, int(X.indices[index])
