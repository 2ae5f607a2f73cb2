"""Nearest points: the one distance kernel behind landmarks, affinity and k-means."""

from __future__ import annotations

import torch

from scedae._blocks import fixed_blocks, length

# Numbers in one block of distances: what a CPU's cache likes, what a GPU needs. And the
# most rows: few rows would otherwise be filled up with many zeros.
_BLOCK_NUMBERS = {"cpu": 1 << 18, "cuda": 1 << 24}
_BLOCK_ROWS = {"cpu": 1 << 11, "cuda": 1 << 14}


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
            found[where] = distances.topk(r, dim=1, largest=False).indices
    return found


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
