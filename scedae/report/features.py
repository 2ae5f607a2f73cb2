"""The columns that set a cluster apart from all other rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scedae.report.numerals import aligned
from scedae.report.source import NamedRows

# Rows made dense at a time, so that a large matrix is never copied as a whole.
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Contrast:
    """Means of each cluster, and how far they are from those of all other rows."""

    means: np.ndarray  # (k, d)
    differences: np.ndarray  # (k, d) in standard deviations of the column
    deviations: np.ndarray  # (d,)

    def strongest(self, cluster: int, count: int) -> np.ndarray:
        """Columns with the largest difference, largest first."""
        order = np.argsort(-np.abs(self.differences[cluster]), kind="stable")
        return order[:count]

    def written(self, value: float, column: int) -> str:
        """A value of a column, with as many decimals as its spread is worth."""
        return aligned(value, float(self.deviations[column]))


def contrast(source: NamedRows, labels: np.ndarray, n_clusters: int) -> Contrast:
    """Standardised differences of cluster means, in one pass over the rows.

    Columns that do not vary have no difference, and neither has a cluster that holds
    all rows or none.
    """
    shift = source.take(slice(0, _BLOCK_ROWS)).mean(axis=0)
    sums = np.zeros((n_clusters, source.n_columns))
    squares = np.zeros(source.n_columns)
    for start in range(0, source.n_rows, _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        # Shifted near zero first: squares of columns with an offset would cancel.
        values = source.take(block) - shift
        squares += (values**2).sum(axis=0)
        for cluster in np.unique(labels[block]):
            sums[cluster] += values[labels[block] == cluster].sum(axis=0)
    sizes = np.bincount(labels, minlength=n_clusters)[:, None]
    total, n_rows = sums.sum(axis=0), source.n_rows
    variance = squares / n_rows - (total / n_rows) ** 2
    varies = variance > 1e-12 * np.maximum(squares / n_rows, 1e-300)
    deviation = np.sqrt(np.where(varies, variance, np.inf))
    inside = sums / np.maximum(sizes, 1)
    outside = (total - sums) / np.maximum(n_rows - sizes, 1)
    meaningful = (sizes > 0) & (sizes < n_rows)
    differences = np.where(meaningful, (inside - outside) / deviation, 0)
    return Contrast(inside + shift, differences, np.sqrt(np.where(varies, variance, 0)))
