"""Every check of input and parameters, once, at the border."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from scedae._device import resolve_device
from scedae._rows import (
    MemoryRows,
    Rows,
    is_elsewhere,
    open_rows,
    plain_dtype,
    refuse_not_finite,
    whole,
)
from scedae.exceptions import DegenerateDataWarning, UnstableClustersWarning, warn_user


def check_rows(
    estimator: BaseEstimator, X: Any, *, reset: bool, in_memory: bool = False
) -> Rows:
    """Rows of any accepted container, or one clear error.

    ``reset`` is True in ``fit``, which learns number and names of the columns, and
    False afterwards, when they are compared. ``in_memory`` says that rows which are
    not there, and are too many to be brought, cannot be used.
    """
    if is_elsewhere(X) and not (in_memory and isinstance(X, np.memmap)):
        return _check_rows_elsewhere(estimator, X, reset=reset, in_memory=in_memory)
    if isinstance(X, torch.Tensor):
        X = _from_tensor(X)
    _refuse_masked(X)
    _refuse_text_columns(X)
    X = _validated(estimator, _with_names(X), reset=reset)
    X = plain_dtype(X)
    refuse_not_finite(X, getattr(estimator, "feature_names_in_", None))
    return MemoryRows(X, resolve_device(estimator.device))


class _Interchanged:
    """A frame of polars 2, by the protocol that it no longer speaks."""

    def __init__(self, frame: Any) -> None:
        self._frame, self.shape = frame, frame.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._frame, dtype)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __dataframe__(self) -> _Interchanged:
        return self

    def column_names(self) -> list[str]:
        return list(self._frame.columns)

    def num_rows(self) -> int:
        return len(self)


def _with_names(X: Any) -> Any:
    """Rows whose names of columns every version of scikit-learn sees.

    Before 1.9 it asks by ``__dataframe__``, which polars has given up in version 2.
    """
    old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
    is_polars = type(X).__module__.partition(".")[0] == "polars"
    if old and is_polars and not hasattr(X, "__dataframe__"):
        return _Interchanged(X)
    return X


def _validated(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """What scikit-learn makes of X, if those are numbers."""
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=1,
        )
        if X.dtype.kind == "O":  # a list of lists with None in it
            X = X.astype(np.float64)
    except TypeError as error:
        raise TypeError(f"X cannot be used as numbers: {error}") from error
    if X.dtype.kind not in "buif":
        raise ValueError(
            f"X holds {X.dtype}, not numbers: bring it into numbers first, times for "
            "instance into days since a date."
        )
    return X


def _refuse_masked(X: Any) -> None:
    """A mask says that a number is none; who ignores it computes with that number."""
    if not isinstance(X, np.ma.MaskedArray) or not np.ma.is_masked(X):
        return
    place = ", ".join(str(int(i)) for i in np.argwhere(np.ma.getmaskarray(X))[0])
    raise ValueError(
        f"X is a masked array with missing values (the first at {place}): fill them "
        "(X.filled, sklearn.impute.SimpleImputer) or drop those rows."
    )


def _check_rows_elsewhere(
    estimator: BaseEstimator, X: Any, *, reset: bool, in_memory: bool
) -> Rows:
    """The same for rows in a file or on a cluster: numbers are checked when read."""
    rows = open_rows(X, estimator.device)
    array = whole(rows)
    if array is None and in_memory:
        raise TypeError(
            f"{type(estimator).__name__} is fitted on rows in memory, and X is a "
            f"{type(X).__name__}: pass an array, or use SCEDAE or "
            "LandmarkSpectralClustering."
        )
    header: Any = np.empty((0, rows.n_columns))
    if rows.names is not None:
        import pyarrow  # there, since both readers of named columns need it

        header = pyarrow.table({name: pyarrow.array([0.0]) for name in rows.names})
    validate_data(estimator, header, reset=reset, skip_check_array=True)
    if array is None:
        return rows
    return MemoryRows(array, rows.home)


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


# Clusters of noise have a stability times a mean margin of at most 0.3, but for two
# halves of a square, and those of sets with classes at least 0.36.
_LEAST_TRUST = 1 / 3

# The least number of clusters that is ever suggested: one is no clustering.
FEWEST_CLUSTERS = 2


def check_enough_rows(n_rows: int, n_clusters: int | str) -> None:
    if n_rows == 1:
        raise ValueError("n_samples=1 should be >= 2: one row has nothing to lie near.")
    if isinstance(n_clusters, str):
        if n_rows < FEWEST_CLUSTERS:
            raise ValueError(
                f"n_samples={n_rows} should be >= {FEWEST_CLUSTERS} for "
                f"n_clusters={n_clusters!r}: give more rows."
            )
    elif n_rows < n_clusters:
        raise ValueError(
            f"n_samples={n_rows} should be >= n_clusters={n_clusters}: give more rows "
            "or ask for fewer clusters."
        )


def check_landmarks(n_landmarks: int, n_rows: int, n_clusters: int | str) -> None:
    needed = FEWEST_CLUSTERS if isinstance(n_clusters, str) else n_clusters
    if n_landmarks < min(needed, n_rows):
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
    if constant:
        message = (
            f"all rows of X are equal: {n_found} of {n_clusters} clusters are used, "
            "and they mean nothing."
        )
    elif n_clusters == 1:  # asked for, or counted
        message = "n_clusters=1 puts every row into one cluster."
    elif n_found < n_clusters:
        message = (
            f"only {n_found} of {n_clusters} clusters have rows: X may have fewer "
            "distinct rows than that, or the chosen scale hides their differences."
        )
    else:
        return
    warn_user(message, DegenerateDataWarning)


def warn_if_unstable(
    n_clusters: int, stability: float, margin: float, *, clear: bool | None
) -> None:
    """Say so when another look at the rows would find other clusters.

    ``clear`` says whether a number that was estimated stands out; None, if it was
    given.
    """
    agree = f"two halves of the ensemble agree on them by {stability:.2f} (stability_"
    if clear is False:
        message = (
            f"no number of clusters stands out: X may have no clusters. The best guess "
            f"is {n_clusters}; {agree}, 1 at best). See suggestion_ for the evidence, "
            "try another scale, or drop columns that are noise."
        )
    elif stability * margin < _LEAST_TRUST:
        message = (
            f"the {n_clusters} clusters are no sure thing: {agree}, 1 at best). X may "
            "have no clusters, or another number of them: see scedae.suggest_clusters, "
            "try another scale, or drop columns that are noise."
        )
    else:
        return
    warn_user(message, UnstableClustersWarning)
