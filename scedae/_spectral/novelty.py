"""Rows unlike any row of the fit: how far they lie from all landmarks.

A distance means little by itself: where rows lie thin, they are far from everything.
So a row's distance to its nearest landmark is held against what is usual around there,
half way (a geometric mean) between what is usual for rows of that place and for all.
"""

from __future__ import annotations

import numpy as np
import torch

from scedae._spectral.affinity import Neighbors, sums_at

# Rows of the usual distance that every landmark counts beside those near it.
_COMMON_ROWS = 2


def usual_distances(neighbors: Neighbors, n_landmarks: int) -> torch.Tensor:
    """What distances around each landmark are measured by, of shape (p,).

    Such that half of the given rows have a ``distance_ratio`` of less than one.
    """
    distances = neighbors.squared.sqrt()
    overall = float(distances.cpu().numpy().mean())
    if overall <= 0:  # rows that all lie on their landmarks
        return distances.new_ones(n_landmarks)
    own = _row_means(distances)[:, None].expand_as(distances)
    counts = sums_at(neighbors.columns, torch.ones_like(distances), n_landmarks)
    sums = sums_at(neighbors.columns, own, n_landmarks)
    local = (sums + _COMMON_ROWS * overall) / (counts + _COMMON_ROWS)
    usual = (local * overall).sqrt()
    middle = float(np.median(distance_ratio(neighbors, usual).cpu().numpy()))
    return usual * middle if middle > 0 else usual


def distance_ratio(neighbors: Neighbors, usual: torch.Tensor) -> torch.Tensor:
    """Distance to the nearest landmark over what is usual there, of shape (n,)."""
    return neighbors.squared[:, 0].sqrt() / _row_means(usual[neighbors.columns.long()])


def _row_means(numbers: torch.Tensor) -> torch.Tensor:
    """Mean of each row, column by column: each row by itself."""
    total = torch.zeros_like(numbers[:, 0])
    for column in numbers.T:
        total += column
    return total / numbers.shape[1]
