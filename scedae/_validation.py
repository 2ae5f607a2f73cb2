"""Every check of input and parameters, once, at the border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from scedae.exceptions import DegenerateDataWarning, DeviceError, warn_user
from scedae.rows import MemoryRows

# Numbers looked at in one go when searching for NaN: no second copy of the data.
_CHECK_NUMBERS = 1 << 22


def check_rows(estimator: BaseEstimator, X: Any, *, reset: bool) -> MemoryRows:
    """Rows of any accepted container, or one clear error.

    ``reset`` is True in ``fit``, which learns number and names of the columns, and
    False afterwards, when they are compared.
    """
    if isinstance(X, torch.Tensor):
        X = _from_tensor(X)
    _refuse_text_columns(X)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=1,
    )
    X = _plain_dtype(X)
    _refuse_not_finite(X, getattr(estimator, "feature_names_in_", None))
    return MemoryRows(X)


def _from_tensor(X: torch.Tensor) -> np.ndarray:
    X = X.detach()
    X = X if X.layout == torch.strided else X.to_dense()
    X = X.float() if X.dtype == torch.bfloat16 else X
    return X.cpu().numpy()


def _refuse_text_columns(X: Any) -> None:
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return
    text = [
        f"{name} ({dtype})"
        for place, (name, dtype) in enumerate(zip(columns, X.dtypes, strict=True))
        if not _is_numeric(dtype) and not _holds_numbers(X, place)
    ]
    if text:
        raise ValueError(
            f"X has columns that are not numeric: {', '.join(text)}. Drop them, or "
            "encode them as numbers first (sklearn.preprocessing.OneHotEncoder)."
        )


def _holds_numbers(X: Any, column: int) -> bool:
    """Whether a column of objects is made of numbers all the same."""
    if not hasattr(X, "iloc"):
        return False
    values = X.iloc[:, column]
    if getattr(values.dtype, "kind", "O") != "O":
        return False
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    # pandas' own nullable types answer for the numpy type behind them
    kind = getattr(dtype, "kind", "O")
    return kind in "buif"


def _plain_dtype(X: Any) -> Any:
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


def _refuse_not_finite(X: Any, names: Sequence[str] | None) -> None:
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
            f"{row}, column {name}. Fill missing values (sklearn.impute.SimpleImputer) "
            "or drop those rows."
        )


def _place(X: Any, index: int, first: tuple[Any, ...]) -> tuple[int, int]:
    """Row and column of an entry, for sparse ones by its place in the data."""
    if not sp.issparse(X):
        return index, int(first[1])
    row = int(np.searchsorted(X.indptr, index, side="right")) - 1
    return row, int(X.indices[index])


def check_enough_rows(n_rows: int, n_clusters: int) -> None:
    if n_rows < n_clusters:
        raise ValueError(
            f"n_samples={n_rows} should be >= n_clusters={n_clusters}: give more rows "
            "or ask for fewer clusters."
        )


def check_landmarks(n_landmarks: int, n_rows: int, n_clusters: int) -> None:
    if n_landmarks < min(n_clusters, n_rows):
        raise ValueError(
            f"n_landmarks={n_landmarks} is less than n_clusters={n_clusters}: every "
            "cluster needs landmarks of its own. Leave n_landmarks='auto', or take ten "
            "times as many as clusters."
        )
    if n_landmarks > n_rows:
        warn_user(
            f"n_landmarks={n_landmarks} is more than the {n_rows} rows of X; every row "
            "becomes a landmark. Fewer landmarks (a tenth of the rows) are faster and "
            "usually better.",
            DegenerateDataWarning,
        )


def warn_if_degenerate(n_found: int, n_clusters: int, *, constant: bool) -> None:
    """Say so when the answer means little."""
    if n_clusters == 1:
        message = "n_clusters=1 puts every row into one cluster."
    elif constant:
        message = (
            f"all rows of X are equal: {n_found} of {n_clusters} clusters are used, "
            "and they mean nothing."
        )
    elif n_found < n_clusters:
        message = (
            f"only {n_found} of {n_clusters} clusters have rows: X may have fewer "
            "distinct rows than that, or the chosen scale hides their differences."
        )
    else:
        return
    warn_user(message, DegenerateDataWarning)


def resolve_device(device: str | torch.device) -> torch.device:
    """The torch device for a name; "auto" takes a GPU where there is one."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise DeviceError(
            f"device={device!r} is not a device; use 'auto', 'cpu' or 'cuda'."
        ) from error
    if found.type not in ("cpu", "cuda"):
        raise DeviceError(
            f"device={device!r} is not supported; use 'auto', 'cpu' or 'cuda'."
        )
    n_gpus = torch.cuda.device_count() if found.type == "cuda" else 0
    if found.type == "cuda" and (found.index or 0) >= n_gpus:
        raise DeviceError(
            f"device={device!r} was asked for, but torch sees {n_gpus} GPUs here. Use "
            "device='auto' or 'cpu', or install a CUDA build of torch."
        )
    if found.type == "cuda":
        # With its number, as tensors name it: "cuda" and "cuda:0" do not compare equal.
        return torch.device("cuda", found.index or 0)
    return found
