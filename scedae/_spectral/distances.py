"""Nearest points: the one distance kernel behind landmarks, affinity and k-means."""

from __future__ import annotations

import torch

from scedae._numerics import LEAST_BLOCK, by_blocks, product, round_up
from scedae._threads import share_out

# Numbers in one block of distances: what a CPU's cache likes, what a GPU needs. And the
# most rows: few rows would otherwise be filled up with many zeros.
_BLOCK_NUMBERS = {"cpu": 1 << 18, "cuda": 1 << 24}
_BLOCK_ROWS = {"cpu": 5 * LEAST_BLOCK, "cuda": 1 << 14}
# A squared distance below this part of the squared length is known to three digits or
# less in single precision.
DROWNED = 2.0**-10


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
    return _nearest(points, targets, r, 1)


def nearest_of_groups(
    points: torch.Tensor, targets: torch.Tensor, n_groups: int
) -> torch.Tensor:
    """Number of the nearest target in each of several groups of equal size, (n, g)."""
    return _nearest(points, targets, 1, n_groups)


def _nearest(
    points: torch.Tensor, targets: torch.Tensor, r: int, n_groups: int
) -> torch.Tensor:
    # Half way between the extremes: a mean would depend on the order of its sum.
    middle = (targets.amin(0) + targets.amax(0)) / 2
    found = _nearest_about(middle, points, targets, r, n_groups)
    if points.dtype == torch.float32:
        drowned = found[:, -1] != 0
        if bool(drowned.any()):
            again = points[drowned].double(), targets.double()
            found[drowned] = _nearest_about(middle.double(), *again, r, n_groups)
    return found[:, :-1]


def _nearest_about(
    middle: torch.Tensor,
    points: torch.Tensor,
    targets: torch.Tensor,
    r: int,
    n_groups: int,
) -> torch.Tensor:
    """The nearest ones, and 1 where a distance to them drowns in rounding.

    Of shape (n, r + 1), or (n, groups + 1) where there are several.
    """
    matrix = measure(targets - middle, _columns(len(targets), r, points.device))

    def choose(block: torch.Tensor) -> torch.Tensor:
        offsets = block - middle
        distances = product(with_one(offsets, len(matrix))[None], matrix[None])[0]
        if n_groups > 1:
            apart = distances[:, : len(targets)].unflatten(1, (n_groups, -1))
            least, chosen = apart.min(2)
            chosen += firsts
        elif r == 1:
            least, chosen = distances.min(1, keepdim=True)
        else:
            least, chosen = distances.topk(r, dim=1, largest=False)
        # Padding is as far as can be, but not farther than what is no number.
        chosen = chosen.clamp_(max=len(targets) - 1)
        squares = offsets.square().sum(1)
        doubtful = least.amin(1) if n_groups > 1 else least[:, -1]
        drowned = 2 * doubtful + squares < DROWNED * squares
        return torch.cat([chosen, drowned[:, None]], dim=1)

    firsts = torch.arange(n_groups, device=points.device) * (len(targets) // n_groups)
    shape = (len(points), max(r, n_groups) + 1)
    found = torch.empty(shape, dtype=torch.long, device=points.device)
    height = _block_rows(points.device, len(targets))
    return by_blocks(choose, points, found, height)


def _columns(n_targets: int, r: int, device: torch.device) -> int:
    """Columns of a block of distances: those of the targets, and perhaps more.

    Of 64 times r numbers and more, torch takes the least r by a heap; of fewer it
    sorts parts of them, which takes up to three times as long.
    """
    if device.type == "cpu" and 24 * r <= n_targets < 64 * r:
        return 64 * r
    return round_up(n_targets)


def with_one(rows: torch.Tensor, width: int) -> torch.Tensor:
    """(x, 1) of every row, filled up with zeros to a width."""
    extended = rows.new_zeros(len(rows), width)
    extended[:, : rows.shape[1]] = rows
    extended[:, rows.shape[1]] = 1
    return extended


def measure(targets: torch.Tensor, width: int | None = None) -> torch.Tensor:
    """What takes (x, 1) to |t|²/2 - x·t for every target t; padded for products.

    To targets that there are not it is far.
    """
    n_targets, n_columns = targets.shape
    matrix = targets.new_zeros(round_up(n_columns + 1), width or round_up(n_targets))
    matrix[:n_columns, :n_targets] = -targets.T
    matrix[n_columns, :n_targets] = targets.square().sum(1) / 2
    matrix[n_columns, n_targets:] = torch.finfo(targets.dtype).max
    return matrix


def squared_distances(
    points: torch.Tensor, targets: torch.Tensor, index: torch.Tensor
) -> torch.Tensor:
    """Squared distances to the targets named by ``index``, in float64, (n, r).

    By differences, which is free of cancellation, and local to a row.
    """
    distances = torch.empty(index.shape, dtype=torch.float64, device=points.device)
    height = max(_BLOCK_NUMBERS[points.device.type] // points.shape[1], 1)

    def fill(start: int) -> None:
        rows = slice(start, start + height)
        block = points[rows].double()
        for column in range(index.shape[1]):
            # In double precision after they are gathered, which is half the way then.
            own = targets.index_select(0, index[rows, column])
            difference = own.double().sub_(block)
            distances[rows, column] = difference.square_().sum(1)

    starts = range(0, len(points), height)
    if points.is_cpu:
        share_out(fill, starts)  # in a CPU's cache, not through its memory
    else:
        for start in starts:
            fill(start)
    return distances
