"""Nearest points: the one distance kernel behind landmarks, affinity and k-means."""

from __future__ import annotations

import torch

from scedae._numerics import LEAST_BLOCK, by_blocks, product, round_up

# Numbers in one block of distances: what a CPU's cache likes, what a GPU needs. And the
# most rows: few rows would otherwise be filled up with many zeros.
_BLOCK_NUMBERS = {"cpu": 1 << 18, "cuda": 1 << 24}
_BLOCK_ROWS = {"cpu": 5 * LEAST_BLOCK, "cuda": 1 << 14}
# A squared distance below this part of the squared length is known to three digits or
# less in single precision.
_DROWNED = 2.0**-10


def _block_rows(device: torch.device, n_targets: int) -> int:
    """Height of a block; it depends on the targets alone, never on the rows."""
    height = _BLOCK_NUMBERS[device.type] // n_targets // LEAST_BLOCK * LEAST_BLOCK
    return min(max(height, LEAST_BLOCK), _BLOCK_ROWS[device.type])


def nearest(points: torch.Tensor, targets: torch.Tensor, r: int = 1) -> torch.Tensor:
    """Numbers of the ``r`` nearest targets of each point, nearest first, (n, r).

    By half of each squared distance, up to |x|²/2, which does not change which target
    is nearest and would only cost precision. Both sides are moved to the middle of the
    targets first: far from the origin small distances would drown in rounding. Points
    whose distances do so all the same, in single precision, are asked again in double.
    """
    # Half way between the extremes: a mean would depend on the order of its sum.
    middle = (targets.amin(0) + targets.amax(0)) / 2
    found = _nearest_about(middle, points, targets, r)
    if points.dtype == torch.float32:
        farthest = squared_distances(points, targets, found[:, -1:])[:, 0]
        drowned = farthest < _DROWNED * (points - middle).double().square().sum(1)
        if bool(drowned.any()):
            again = points[drowned].double(), targets.double()
            found[drowned] = _nearest_about(middle.double(), *again, r)
    return found


def _nearest_about(
    middle: torch.Tensor, points: torch.Tensor, targets: torch.Tensor, r: int
) -> torch.Tensor:
    measure = _measure(targets - middle)
    n_columns = targets.shape[1]

    def choose(block: torch.Tensor) -> torch.Tensor:
        extended = block.new_zeros(len(block), len(measure))
        torch.sub(block, middle, out=extended[:, :n_columns])
        extended[:, n_columns] = 1
        distances = product(extended[None], measure[None])[0][:, : len(targets)]
        if r == 1:
            return distances.argmin(1, keepdim=True)
        return distances.topk(r, dim=1, largest=False).indices

    found = torch.empty(len(points), r, dtype=torch.long, device=points.device)
    height = _block_rows(points.device, len(targets))
    return by_blocks(choose, points, found, height)


def _measure(targets: torch.Tensor) -> torch.Tensor:
    """What takes (x, 1) to |t|²/2 - x·t for every target t; padded for products."""
    n_targets, n_columns = targets.shape
    matrix = targets.new_zeros(round_up(n_columns + 1), round_up(n_targets))
    matrix[:n_columns, :n_targets] = -targets.T
    matrix[n_columns, :n_targets] = targets.square().sum(1) / 2
    return matrix


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
