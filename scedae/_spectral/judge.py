"""judge: of several partitions of the same rows, the one that cuts the fewest ties.

The graph it looks at is not one of those that were partitioned. Every row is tied to
its nearest rows in each encoding, by exp(-d² / s_i s_j), where s is a row's distance to
its 7th neighbour (local scaling: Zelnik-Manor and Perona, 2004). A partition is as good
as the mean of its clusters' normalised cuts is small (Shi and Malik, 2000): the share
of a cluster's ties that lead out of it. Crumbs are cut off well, too, and leave one
cluster of everything else: how far it outgrows the others counts against a partition.
Sizes that differ a few times hardly count, as those of true clusters do, too; nor does
it count without limit, or no rare cluster could be found. No label is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from scedae._spectral.landmarks import Encoding, first_appearances
from scedae._spectral.search import Search, nearest_landmarks

# Rows that the judge looks at. Beyond, ties among a sample say nearly the same.
MOST_JUDGED = 5000
_NEIGHBORS = 15
_SCALE_NEIGHBOR = 7
# What multiplies a cut, less one, for each square of how many times larger the largest
# cluster is than the others, less one; what multiplies it at most; and what is added to
# a cut before, so that none is so small that nothing else counts.
_WEIGHT_OF_LARGEST, _MOST_WEIGHT = 0.025, 6.0
_SMALLEST_CUT = 0.002


@dataclass(frozen=True)
class GraphCandidate:
    """One graph that was tried, and what the judge says of its clusters.

    Attributes
    ----------
    n_landmarks : int
        Landmarks of each member (of the first, where members differ).
    n_neighbors : int
        Nearest landmarks that a row is tied to.
    cut : float or None
        Mean normalised cut of the clusters, in [0, 1]: the share of a cluster's ties
        that lead out of it. Small is good. None, where there was one graph only.
    largest : float or None
        Share of the rows in the largest cluster.
    score : float or None
        The cut, and more of it the more the largest cluster outgrows the others.
        The smallest wins, where it is clear: a later graph is taken for a score that
        is 3 % less.
    chosen : bool
        Whether the fit went on with this graph.
    longer : bool
        Whether these are its clusters after a longer diffusion, which leaves hardly
        anything but what lies before a gap of the spectrum: they were far better.

    Examples
    --------
    >>> from scedae import SCEDAE
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = SCEDAE(4, effort="fast", epochs=5, random_state=0).fit(X)
    >>> [(each.n_landmarks, each.n_neighbors) for each in model.candidates_][:2]
    [(100, 3), (100, 5)]
    >>> sum(each.chosen for each in model.candidates_)
    1
    """

    n_landmarks: int
    n_neighbors: int
    cut: float | None
    largest: float | None
    score: float | None
    chosen: bool
    longer: bool = False


@dataclass(frozen=True)
class Verdict:
    """What the judge says of one partition; ``GraphCandidate`` tells what it means."""

    cut: float
    largest: float
    score: float


class Judge:
    """The ties between near rows, by which partitions of them are compared.

    Parameters
    ----------
    encodings : sequence of Encoding
        Of the same rows; each adds its ties.
    generator : torch.Generator
        Draws the rows to look at, where there are many.
    most_rows : int
        So many at most.
    """

    def __init__(
        self,
        encodings: Sequence[Encoding],
        generator: torch.Generator,
        most_rows: int = MOST_JUDGED,
    ) -> None:
        first = encodings[0]
        order = torch.randperm(first.n_rows, generator=generator)
        rows = order[:most_rows].sort().values.to(first.device)
        # Equal rows would be each other's nearest, and hold on to nothing else.
        self.rows = rows[first_appearances(first.take(rows))]
        ties = [_ties(encoding.take(self.rows)) for encoding in encodings]
        self._ties = sum(ties[1:], ties[0]).tocoo()

    def weigh(self, labels: np.ndarray, n_clusters: int) -> Verdict:
        """The verdict on a partition of ``rows`` into so many clusters."""
        cut = self.mean_cut(labels)
        largest = float(np.bincount(labels).max() / len(labels))
        excess = times_the_others(largest, n_clusters) - 1
        weight = min(1 + _WEIGHT_OF_LARGEST * max(excess, 0) ** 2, _MOST_WEIGHT)
        return Verdict(cut, largest, (cut + _SMALLEST_CUT) * weight)

    def mean_cut(self, labels: np.ndarray) -> float:
        """Mean normalised cut of a partition of ``rows``, in [0, 1].

        Rows that no tie holds together are no cluster: their cut is 1.
        """
        ends = labels[self._ties.row], labels[self._ties.col]
        inside = ends[0] == ends[1]
        sizes = np.bincount(labels)
        total = np.bincount(ends[0], self._ties.data, len(sizes))
        kept = np.bincount(ends[0], self._ties.data * inside, len(sizes))
        shares = np.divide(kept, total, out=np.zeros(len(sizes)), where=total > 0)
        return float(1 - np.mean(shares[sizes > 0]))


def times_the_others(largest: float, n_clusters: int) -> float:
    """How often the largest cluster holds what the others hold in the mean.

    From its share of the rows; a single cluster outgrows nobody.
    """
    if n_clusters == 1:
        return 1.0
    others = (1 - largest) / (n_clusters - 1)
    return largest / others if others > 0 else math.inf


def _ties(points: torch.Tensor) -> sp.csr_matrix:
    """The locally scaled graph of nearest neighbours, (n, n), on the host."""
    n_neighbors = min(_NEIGHBORS + 1, len(points))
    found = nearest_landmarks(points, Search(points), n_neighbors)
    columns, squared = found.columns.cpu().numpy(), found.squared.cpu().numpy()
    n_rows, n_ties = columns.shape
    scale = np.sqrt(squared[:, min(_SCALE_NEIGHBOR, n_ties - 1)])
    rows = np.repeat(np.arange(n_rows), n_ties)
    columns, squared = columns.ravel(), squared.ravel()
    spread = np.maximum(scale[rows] * scale[columns], np.finfo(float).tiny)
    with np.errstate(over="ignore"):  # rows far away have no tie
        weights = np.exp(-squared / spread)
    weights[rows == columns] = 0
    ties = sp.csr_matrix((weights, (rows, columns)), shape=(n_rows, n_rows))
    return ties.maximum(ties.T)
