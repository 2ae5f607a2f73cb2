"""Nearest points: the one distance kernel behind landmarks, affinity and k-means."""

from __future__ import annotations

import torch

from scedae._blocks import fixed_blocks, length

# Numbers in one block of distances: what a CPU's cache likes, what a GPU needs. And the
# most rows: few rows would otherwise be filled up with many zeros.
_BLOCK_NUMBERS = {"cpu": 1 << 18, "cuda": 1 << 24}
_BLOCK_ROWS = {"cpu": 1 << 11, "cuda": 1 << 14}

# From so many targets on, the nearest are sought in groups.
_MANY_TARGETS = 1 << 14
_GROUP = 64


def _block_rows(device: torch.device, n_targets: int) -> int:
    """Height of a block; it depends on the targets alone, never on the rows."""
    height = max(_BLOCK_NUMBERS[device.type] // n_targets, 256)
    return min(height, _BLOCK_ROWS[device.type])


def comparable_distances(points: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Half of each squared distance, up to a constant of the row, (n, p).

    |x|² is left out: it does not change which target is nearest, and adding it
    would only cost precision.
    """
    half = targets.square().sum(1) / 2
    return torch.addmm(half, points, targets.T, alpha=-1)


def nearest(points: torch.Tensor, targets: torch.Tensor, r: int = 1) -> torch.Tensor:
    """Numbers of the ``r`` nearest targets of each point, nearest first, (n, r).

    Both sides are moved to the centre of the targets first: far from the origin the
    expanded square would drown small distances in rounding.
    """
    centre = targets.mean(0)
    targets = targets - centre
    height = _block_rows(points.device, len(targets))
    found = torch.empty(len(points), r, dtype=torch.long, device=points.device)
    for where, block in fixed_blocks(points, height):
        distances = comparable_distances(block - centre, targets)[: length(where)]
        if r == 1:
            found[where, 0] = distances.argmin(1)
        else:
            found[where] = _smallest(distances, r)
    return found


def _smallest(distances: torch.Tensor, r: int) -> torch.Tensor:
    """Columns of the ``r`` smallest numbers of each row, smallest first, (n, r).

    Among very many they are sought in the r groups with the smallest minima, where
    they must be: minima take one pass, a search for the r smallest several.
    """
    n_columns = distances.shape[1]
    if n_columns < max(_MANY_TARGETS, r * _GROUP):
        return distances.topk(r, dim=1, largest=False).indices
    n_whole = n_columns // _GROUP
    whole, rest = distances.split([n_whole * _GROUP, n_columns % _GROUP], dim=1)
    minima = whole.unflatten(1, (n_whole, _GROUP)).amin(2)
    groups = minima.topk(r, dim=1, largest=False, sorted=False).indices
    members = torch.arange(_GROUP, device=distances.device)
    candidates = (groups[:, :, None] * _GROUP + members).flatten(1)
    last = torch.arange(n_whole * _GROUP, n_columns, device=distances.device)
    candidates = torch.cat([candidates, last.expand(len(distances), -1)], dim=1)
    values = torch.cat([whole.gather(1, candidates[:, : r * _GROUP]), rest], dim=1)
    best = values.topk(r, dim=1, largest=False).indices
    return candidates.gather(1, best)


def neighbor_means(points: torch.Tensor, n_neighbors: int) -> torch.Tensor:
    """The mean of each point's nearest points, itself among them, (n, d)."""
    index = nearest(points, points, min(n_neighbors, len(points)))
    # One neighbour after the other: no sum depends on how rows lie in memory.
    total = points[index[:, 0]]
    for column in index.T[1:]:
        total += points[column]
    return total / index.shape[1]


def squared_distances(
    points: torch.Tensor, targets: torch.Tensor, index: torch.Tensor
) -> torch.Tensor:
    """Squared distances to the targets named by ``index``, in float64, (n, r).

    By differences, which is free of cancellation, and local to a row.
    """
    distances = torch.empty(index.shape, dtype=torch.float64, device=points.device)
    for column in range(index.shape[1]):
        difference = points.double() - targets[index[:, column]].double()
        distances[:, column] = difference.square_().sum(1)
    return distances
