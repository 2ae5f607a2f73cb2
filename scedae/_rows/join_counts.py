"""Whether the other columns know of a column of few values.

A flag that has nothing to do with the rest splits every cluster in two: a graph of near
rows falls apart along it. So each such column is tested for independence, by the join
counts of spatial statistics (Moran, 1948): how often rows that are near by the other
columns share its value, beside how often any two rows do.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

# Rows and columns that are looked at, and near rows of each.
MOST_ROWS, _MOST_COLUMNS, _NEAR = 1000, 128, 10
# Columns are left out of the distances in so many groups at most: a column must not
# tell which rows are near when it is tested.
_MOST_GROUPS = 8
# Standard errors over chance from which near rows are said to agree on a value.
_LEAST_ERRORS = 3.0
# Differences of distances, as a part of them, that are none.
_TIE = 1e-9
# Two rows are often near each other: of so many neighbours one is counted twice.
_SHARED = 1.5


def known_to_others(values: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """Whether near rows agree on each column, (d,); true of those not tested.

    Where none that varies would be left, nothing is said against any.
    """
    known = np.ones(len(tested), dtype=bool)
    varies = values.min(0) < values.max(0)
    (columns,) = np.nonzero(tested & varies)
    for group in np.array_split(columns, min(len(columns), _MOST_GROUPS) or 1):
        others = np.delete(values, np.union1d(group, np.nonzero(~varies)), axis=1)
        if len(group) and others.shape[1] and len(values) > _NEAR + 1:
            near = _nearest_rows(others)
            known[group] = [_agree(values[:, j], near) for j in group]
    return known if (known & varies).any() else np.ones_like(known)


def _nearest_rows(values: np.ndarray) -> np.ndarray:
    """The nearest rows of each, itself left out, (n, 10)."""
    every = -(-values.shape[1] // _MOST_COLUMNS)
    distances = cdist(values[:, ::every], values[:, ::every], "sqeuclidean")
    # Among columns of few values many rows are equally near: each takes others of them,
    # or all would ask the same ten.
    chance = np.random.default_rng(0).random(distances.shape)
    distances *= 1 + _TIE * chance
    distances += _TIE * distances.mean() * chance
    np.fill_diagonal(distances, np.inf)
    return np.argpartition(distances, _NEAR, axis=1)[:, :_NEAR]


def _agree(column: np.ndarray, near: np.ndarray) -> bool:
    """Whether near rows share their value more often than chance would have it."""
    shares = np.unique(column, return_counts=True)[1] / len(column)
    chance = float(np.square(shares).sum())
    error = np.sqrt(chance * (1 - chance) * _SHARED / near.size)
    shared = float(np.mean(column[near] == column[:, None]))
    return shared > chance + _LEAST_ERRORS * error
