"""Frames of pandas, polars and Arrow, all as polars has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl


def as_frame(X: Any) -> pl.DataFrame:
    """A frame of any kind as a polars frame; numeric columns are not copied."""
    if isinstance(X, pl.LazyFrame):
        return X.collect()
    if isinstance(X, pl.DataFrame):
        return X
    if isinstance(X, np.ndarray | list):
        return _from_array(np.asarray(X))
    if type(X).__module__.startswith("pandas"):
        return _from_pandas(X)
    try:
        return pl.DataFrame(X)
    except (TypeError, ValueError, ImportError) as error:
        raise TypeError(
            f"{type(X).__name__} is no table: pass a frame of pandas, polars or Arrow, "
            "a dictionary of columns, or an array of two dimensions."
        ) from error


def _from_array(X: np.ndarray) -> pl.DataFrame:
    if X.ndim != 2:
        raise ValueError(f"a table has two dimensions, and this array has {X.ndim}.")
    columns = (_series(str(j), X[:, j]) for j in range(X.shape[1]))
    return pl.DataFrame(list(columns))


def _from_pandas(X: Any) -> pl.DataFrame:
    """Column by column: one of mixed objects is no reason to refuse the others."""
    columns = [X.iloc[:, place] for place in range(X.shape[1])]
    names = [str(name) for name in X.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are named {twice!r}: give each its own name.")
    return pl.DataFrame(
        [_pandas_series(name, c) for name, c in zip(names, columns, strict=True)]
    )


def _pandas_series(name: str, column: Any) -> pl.Series:
    if column.dtype.kind in "buif" and isinstance(column.dtype, np.dtype):
        return pl.Series(name, column.to_numpy())
    try:
        return pl.Series(name, pl.from_pandas(column))
    except ImportError as error:
        raise ImportError(
            "columns of pandas that are not plain numbers need pyarrow: pip install "
            "'scedae[tables]'."
        ) from error
    except Exception:  # objects of several types, which Arrow has no name for
        return _series(name, column.to_numpy(dtype=object))


def _series(name: str, values: np.ndarray) -> pl.Series:
    if values.dtype.kind in "buif":
        return pl.Series(name, np.ascontiguousarray(values))
    texts = [None if _is_gap(value) else str(value) for value in values.tolist()]
    return pl.Series(name, texts, dtype=pl.String)


def _is_gap(value: Any) -> bool:
    # NaN is the only value that differs from itself; pandas' NA does not even answer.
    return value is None or str(value) in ("nan", "NaT", "<NA>")
