"""assign, first half: rows put to clusters by k-means, then in the clusters' metric."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from scedae._numerics import times
from scedae._random import generator
from scedae._spectral.confidence import margin
from scedae._spectral.distances import nearest
from scedae._spectral.kmeans import kmeans
from scedae._spectral.metric import round_clusters

# Of ten starts none may end in the best clusters: on USPS one in four does.
STARTS = 30
_START_ROUNDS = 15


@dataclass(frozen=True)
class Partition:
    """The rows at hand, put to clusters."""

    metric: torch.Tensor  # (q, q)
    centers: torch.Tensor  # (k, q) in that metric
    points: torch.Tensor  # (n, q) in that metric
    labels: torch.Tensor  # (n,)
    kmeans_labels: torch.Tensor  # (n,) before clusters were made round
    kmeans_margin: float  # mean over the rows, of those labels


def partition_rows(
    points: torch.Tensor,
    n_clusters: int,
    seed: int,
    *,
    rounded: bool,
    n_starts: int = STARTS,
) -> Partition:
    """k-means, and then clusters made round if asked for."""
    random = generator(seed, "assign")
    centers = kmeans(
        points, n_clusters, random, n_starts=n_starts, n_iter_start=_START_ROUNDS
    ).centers
    first = nearest(points, centers)[:, 0]
    doubt = float(margin(points, centers, first).cpu().numpy().mean())
    if not rounded:
        metric = torch.eye(points.shape[1]).to(points)
        return Partition(metric, centers, points, first, first, doubt)
    metric, centers = round_clusters(points, centers)
    points = times(points, metric)
    labels = nearest(points, centers)[:, 0]
    return Partition(metric, centers, points, labels, first, doubt)
