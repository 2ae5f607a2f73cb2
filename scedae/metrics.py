"""How well labels agree with classes: ACC, NMI, ARI."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_consistent_length, column_or_1d


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Share of rows that agree under the best one-to-one matching of labels.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes, of any values.
    labels_pred : array-like of shape (n_samples,)
        Clusters, of any values; their number may differ from that of the classes,
        and rows of clusters left without a partner count as wrong.

    Returns
    -------
    accuracy : float in [0, 1]

    Examples
    --------
    >>> from scedae.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [7, 7, 7, 3])
    0.75
    """
    labels_true = column_or_1d(labels_true)
    labels_pred = column_or_1d(labels_pred)
    check_consistent_length(labels_true, labels_pred)
    if len(labels_true) == 0:
        raise ValueError("there are no labels to compare.")
    counts = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / len(labels_true))


def evaluate(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """ACC, NMI (arithmetic mean) and ARI as fractions.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)

    Returns
    -------
    scores : dict with the keys "acc", "nmi" and "ari"

    Examples
    --------
    >>> from scedae.metrics import evaluate
    >>> evaluate([0, 0, 1, 1], [1, 1, 0, 0])
    {'acc': 1.0, 'nmi': 1.0, 'ari': 1.0}
    """
    labels_true, labels_pred = np.asarray(labels_true), np.asarray(labels_pred)
    return {
        "acc": clustering_accuracy(labels_true, labels_pred),
        "nmi": float(normalized_mutual_info_score(labels_true, labels_pred)),
        "ari": float(adjusted_rand_score(labels_true, labels_pred)),
    }
