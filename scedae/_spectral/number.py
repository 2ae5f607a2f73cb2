"""count: how many clusters the rows suggest, and by which evidence.

Two things speak for a number k. The *gap*: the walk on S̄ leaves each of the first k
directions slowly and the next one much faster. The *stability*: two halves of the
ensemble, asked for k clusters, find the same ones. Gaps alone are easily moved by
chance, and two clusters are often stable without being all; together they err less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# A cluster of fewer rows could not be told from chance.
_ROWS_OF_A_CLUSTER = 5
# A walk that leaves a piece less than once in so many steps does not leave it: below,
# differences between tiny numbers would look like gaps.
_LEAVES_NEVER = 1e-4
# Stability counts more than the gap, which no bound holds: 0.9 leaves half of it.
_STABILITY_POWER = 6


@dataclass(frozen=True)
class Candidate:
    """One number of clusters and what speaks for it, as a mean over graphs.

    Attributes
    ----------
    n_clusters : int
    gap : float
        The step in the logarithm of 1 - λ after the k-th value, over the step that a
        cloud without clusters would have there; see ``docs/number-of-clusters.md``.
    stability : float
        Agreement of the clusters that two halves of the ensemble and the whole find,
        in [0, 1].
    score : float
        gap · stability⁶: below 0.2 it is what clouds without clusters have.
    """

    n_clusters: int
    gap: float
    stability: float
    score: float


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


def candidate(
    n_clusters: int, gaps: Sequence[float], stabilities: Sequence[float]
) -> Candidate:
    """Both kinds of evidence by each graph, and what they amount to in the mean."""
    scores = np.maximum(gaps, 0) * np.power(stabilities, _STABILITY_POWER)
    means = [float(np.mean(each)) for each in (gaps, stabilities, scores)]
    return Candidate(n_clusters, *means)
