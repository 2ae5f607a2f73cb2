"""assign, on the way: distances as the clusters themselves would measure them.

Around a centre of the embedding rows lie far apart in some directions and close
together in others, in nearly the same way around every centre. k-means does not know:
it measures all directions alike, and cuts a long cluster where a row has gone less far
than the cluster reaches. Here coordinates are rescaled until clusters are round, and
rows go to the nearest centre then, in turns until no row moves.
"""

from __future__ import annotations

import numpy as np
import torch

from scedae._numerics import product, times
from scedae._spectral.distances import nearest
from scedae._spectral.kmeans import means_by_label

_MOST_ROUNDS = 30
# What a direction in which clusters have no width is taken to have, of the mean width.
_LEAST_SHARE = 1e-3
# What is left, of rows of length one, between a row and the mean of its like.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def round_clusters(
    points: torch.Tensor, centers: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The metric in which clusters are round, (q, q), and centres in it, (k, q).

    Starts from the clusters of the given centres. A round after which a cluster would
    have no rows is not made; none is, where rows are too few to tell all widths.
    """
    metric = torch.eye(points.shape[1], dtype=points.dtype, device=points.device)
    if len(points) - len(centers) < points.shape[1]:
        return metric, centers
    found, means = centers, centers
    labels = nearest(points, centers)[:, 0]
    for _ in range(_MOST_ROUNDS):
        means = means_by_label(points, labels, means)
        tried = _metric_of(points - means[labels])
        tried_centers = times(means, tried)
        moved = nearest(times(points, tried), tried_centers)[:, 0]
        if len(moved.unique()) < len(labels.unique()):
            break
        metric, found = tried, tried_centers
        if torch.equal(moved, labels):
            break
        labels = moved
    return metric, found


def _metric_of(offsets: torch.Tensor) -> torch.Tensor:
    """What makes the cloud of offsets from centres round, and leaves its mean width."""
    spread = product(offsets.T[None], offsets[None])[0].cpu().numpy()  # (q, q)
    values, vectors = np.linalg.eigh(spread)
    width = values.mean()
    if width <= len(offsets) * _ROUNDING**2:  # clusters of equal rows
        return torch.eye(len(values)).to(offsets)
    shares = values.clip(min=0) / width
    metric = vectors * (shares + _LEAST_SHARE) ** -0.5 @ vectors.T
    return torch.from_numpy(metric).to(offsets)
