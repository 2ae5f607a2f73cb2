"""How well clusters agree with known classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from scedae.metrics import evaluate

# A table of more lines or columns is no longer read.
_MOST_SHOWN = 40


@dataclass(frozen=True)
class Confusion:
    """Classes by clusters; matched pairs stand on the diagonal."""

    classes: list[str]
    clusters: list[int]
    counts: list[list[int]]  # (classes, clusters)
    shares: list[list[float]]  # of the class
    n_matched: int
    left_out: int  # classes and clusters beyond those shown


@dataclass(frozen=True)
class Scores:
    acc: float
    nmi: float
    ari: float
    confusion: Confusion


def score(classes: np.ndarray, labels: np.ndarray) -> Scores:
    """ACC, NMI, ARI and the confusion matrix after matching."""
    return Scores(**evaluate(classes, labels), confusion=_confusion(classes, labels))


def _confusion(classes: np.ndarray, labels: np.ndarray) -> Confusion:
    class_names, clusters = np.unique(classes), np.unique(labels)
    counts = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    rows = np.concatenate([rows, np.setdiff1d(np.arange(len(class_names)), rows)])
    unmatched = np.setdiff1d(np.arange(len(clusters)), columns)
    columns = np.concatenate([columns, unmatched])
    n_matched = min(len(class_names), len(clusters))
    shown_rows, shown_columns = rows[:_MOST_SHOWN], columns[:_MOST_SHOWN]
    shown = counts[np.ix_(shown_rows, shown_columns)]
    sizes = counts.sum(axis=1)[shown_rows, None]
    return Confusion(
        [str(name) for name in class_names[shown_rows]],
        clusters[shown_columns].tolist(),
        shown.tolist(),
        (shown / sizes).round(3).tolist(),
        n_matched,
        len(rows) - len(shown_rows) + len(columns) - len(shown_columns),
    )
