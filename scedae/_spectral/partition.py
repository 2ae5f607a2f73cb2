"""assign, first half: rows put to clusters by k-means, then in the clusters' metric."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from scedae._numerics import times
from scedae._random import generator
from scedae._spectral.confidence import margin
from scedae._spectral.distances import nearest
from scedae._spectral.kmeans import kmeans, kmeans_from
from scedae._spectral.metric import round_clusters

# Of ten starts none may end in the best clusters: on USPS one in four does.
STARTS = 30
_START_ROUNDS, _ROUNDS = 15, 100


@dataclass(frozen=True)
class Partition:
    """The rows at hand, put to clusters."""

    metric: torch.Tensor  # (q, q)
    centers: torch.Tensor  # (k, q) in that metric
    points: torch.Tensor  # (n, q) in that metric
    labels: torch.Tensor  # (n,)
    kmeans_centers: torch.Tensor  # (k, q) before clusters were made round
    kmeans_labels: torch.Tensor  # (n,) of those
    kmeans_margin: float  # mean over the rows, of those labels


def partition_rows(
    points: torch.Tensor,
    n_clusters: int,
    seed: int,
    *,
    rounded: bool,
    n_starts: int = STARTS,
    start: torch.Tensor | None = None,
) -> Partition:
    """k-means, and then clusters made round if asked for.

    ``start`` has centres that were found among some of the points: the best of as many
    starts, which need not be run again.
    """
    if start is None:
        random = generator(seed, "assign")
        found = kmeans(
            points, n_clusters, random, n_starts=n_starts, n_iter_start=_START_ROUNDS
        )
    else:
        found = kmeans_from(points, start, _ROUNDS)
    first = found.centers
    first_labels = nearest(points, first)[:, 0]
    doubt = float(margin(points, first, first_labels).cpu().numpy().mean())
    metric, centers = torch.eye(points.shape[1]).to(points), first
    labels = first_labels
    if rounded:
        metric, centers = round_clusters(points, first)
        points = times(points, metric)
        labels = nearest(points, centers)[:, 0]
    return Partition(metric, centers, points, labels, first, first_labels, doubt)
