"""count: how many clusters the rows suggest, and by which evidence.

Two things speak for a number k. The *gap*: the walk on S̄ leaves each of the first k
directions slowly and the next one much faster. The *stability*: two halves of the
ensemble, asked for k clusters, find the same ones. Gaps alone are easily moved by
chance, and two clusters are often stable without being all; together they err less.
Outliers are pieces of the graph, too, but no clusters: of the k that are found, those
of a few rows are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

# A cluster of fewer rows could not be told from outliers; of few rows in all, one of
# fewer than this share of them.
_ROWS_OF_A_CLUSTER, _SHARE_OF_A_CLUSTER = 5, 0.05
# A walk that leaves a piece less than once in so many steps does not leave it: below,
# differences between tiny numbers would look like gaps.
_LEAVES_NEVER = 1e-4
# Stability counts more than the gap, which no bound holds: 0.9 leaves half of it.
_STABILITY_POWER = 6


@dataclass(frozen=True)
class Evidence:
    """What one graph says of a number of clusters."""

    n_found: int  # clusters that it was asked for
    gap: float
    stability: float
    n_counted: int  # of the clusters that it finds, those of more than a few rows


@dataclass(frozen=True)
class Candidate:
    """One number of clusters and what speaks for it, as a mean over graphs.

    Attributes
    ----------
    n_clusters : int
        Clusters that hold more than a few rows, of those that were found: five of the
        2,000 rows at most that are looked at, or a twentieth of fewer than a hundred.
    gap : float
        The step in the logarithm of 1 - λ after as many values as clusters were found,
        over the step that a cloud without clusters would have there; see
        ``docs/number-of-clusters.md``.
    stability : float
        Agreement of the clusters that two halves of the ensemble and the whole find,
        in [0, 1].
    score : float
        gap · stability⁶: below 0.2 it is what clouds without clusters have.
    n_found : int or None
        Clusters that were found, those of a few rows included. None: the same.
    """

    n_clusters: int
    gap: float
    stability: float
    score: float
    n_found: int | None = None


def relative_gap(singular_values: np.ndarray, n_clusters: int) -> float:
    """The gap after the k-th eigenvalue, in units of a cloud without clusters.

    ``singular_values`` lack the trivial one. By Weyl's law the values of 1 - λ of a
    cloud in d dimensions grow like the powers j^(2/d) of their number j = 1, 2, …, so
    the step of the logarithm from j = k - 1 to k is (2/d) log(k / (k - 1)) there: the
    result is 2/d for a cloud, whatever k.
    """
    own, following = singular_values[n_clusters - 2 : n_clusters] ** 2
    step = np.log((1 - following + _LEAVES_NEVER) / (1 - own + _LEAVES_NEVER))
    return float(step / np.log(n_clusters / (n_clusters - 1)))


def candidates_for(n_rows: int, n_landmarks: int, most: int) -> range:
    """The numbers worth a look: from 2 to ``most``, with some rows for each cluster."""
    return range(2, max(min(most, n_rows // _ROWS_OF_A_CLUSTER, n_landmarks), 2) + 1)


def in_counted(labels: np.ndarray) -> np.ndarray:
    """Whether each row is in a cluster that holds more than a few rows, (n,)."""
    least = min(_ROWS_OF_A_CLUSTER, max(_SHARE_OF_A_CLUSTER * len(labels), 1))
    return np.bincount(labels)[labels] >= least


def counted(labels: np.ndarray) -> int:
    """Clusters that hold more than a few rows."""
    return len(np.unique(labels[in_counted(labels)]))


def candidate(graphs: Sequence[Evidence]) -> Candidate:
    """What the evidence of all graphs amounts to in the mean.

    What one graph takes for outliers, is none of the clusters.
    """
    gaps = [max(each.gap, 0) for each in graphs]
    scores = [
        gap * each.stability**_STABILITY_POWER
        for gap, each in zip(gaps, graphs, strict=True)
    ]
    return Candidate(
        max(min(each.n_counted for each in graphs), 1),
        gap=float(np.mean([each.gap for each in graphs])),
        stability=float(np.mean([each.stability for each in graphs])),
        score=float(np.mean(scores)),
        n_found=graphs[0].n_found,
    )


def best_of_each(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The best candidate of each number, the best number first."""
    found: dict[int, Candidate] = {}
    for each in sorted(candidates, key=lambda c: -c.score):
        found.setdefault(each.n_clusters, each)
    return tuple(found.values())
