"""anchor: which landmarks are near a row; of many, only some are looked at.

The points are divided into cells by k-means, and a row is compared with those in the
cells whose centres are nearest to it: an inverted file (Sivic and Zisserman, 2003).
Of the five nearest of 63,000 digits it finds 99 in 100, and looks at one point in 31.
Each row is compared by itself, so what is found depends on neither place nor company.
"""

from __future__ import annotations

from functools import cached_property

import torch

from scedae._numerics import LEAST_BLOCK, by_blocks, product
from scedae._random import generator
from scedae._spectral.affinity import Neighbors
from scedae._spectral.distances import (
    DROWNED,
    measure,
    nearest,
    squared_distances,
    with_one,
)
from scedae._spectral.kmeans import lloyd
from scedae._threads import share_out

# Up to so many points all are looked at: a GPU is done with them before it has cells.
_FEW_POINTS = {"cpu": 10_000, "cuda": 1 << 17}
# Points of a cell, about, and cells that are searched.
_POINTS_OF_A_CELL = 128
_SEARCHED = 16
# Points of each cell that the centres are learnt from, and rounds of k-means.
_LEARNT, _ROUNDS = 32, 3
# Rows that are compared in one go, and whose findings are held at a time.
_BLOCK_ROWS = {"cpu": LEAST_BLOCK, "cuda": 1 << 14}
_ROWS_AT_A_TIME = 1 << 16


class Search:
    """Finds the nearest of some points; of many, nearly always."""

    def __init__(self, points: torch.Tensor) -> None:
        self.points = points

    def __getstate__(self) -> dict[str, torch.Tensor]:
        return {"points": self.points}  # whoever receives it makes cells anew

    def nearest(self, rows: torch.Tensor, r: int) -> torch.Tensor:
        """Numbers of the ``r`` nearest points of each row, nearest first, (n, r)."""
        few = _FEW_POINTS[rows.device.type]
        if len(self.points) <= few or not len(rows):
            return nearest(rows, self.points, r)
        parts = [self._cells.nearest(part, r) for part in rows.split(_ROWS_AT_A_TIME)]
        return torch.cat(parts)

    @cached_property
    def _cells(self) -> _Cells:
        return _Cells(self.points)


class _Cells:
    """Points by cell."""

    def __init__(self, points: torch.Tensor) -> None:
        count = len(points) // _POINTS_OF_A_CELL
        # Always the same draw: the cells follow from the points, and need no file.
        order = torch.randperm(len(points), generator=generator(0, "cells"))
        some = points[order[: _LEARNT * count].to(points.device)]
        self._points = points
        self._centers = lloyd(lambda: iter([some]), some[:count], _ROUNDS)
        home = nearest(points, self._centers)[:, 0]
        self._members = _by_number(home, count)

    def nearest(self, rows: torch.Tensor, r: int) -> torch.Tensor:
        """As ``Search.nearest``."""
        n_searched = min(_SEARCHED, len(self._centers))
        asked = nearest(rows, self._centers, n_searched)
        who_asks = _by_number(asked.flatten(), len(self._centers))
        least = rows.new_full((asked.numel(), r), torch.inf)
        chosen = torch.zeros_like(least, dtype=torch.long)
        drowned = torch.zeros_like(least, dtype=torch.bool)

        def search(cell: int) -> None:
            members, places = self._members[cell], who_asks[cell]
            if len(members) and len(places):
                at_hand = rows[places // n_searched]
                wanted = min(r, len(members))
                far, which, lost = self._nearest_within(cell, at_hand, wanted)
                least[places, :wanted] = far
                chosen[places, :wanted] = members[which]
                drowned[places, :wanted] = lost

        cells = range(len(self._centers))
        if rows.is_cpu:
            share_out(search, cells)
        else:
            for cell in cells:
                search(cell)
        far, which = least.view(len(rows), -1).topk(r, dim=1, largest=False)
        found = chosen.view(len(rows), -1).gather(1, which)
        # In cells with fewer points than are wanted, or too wide for single precision:
        # as in ``nearest``, the last one tells, since the first may be the row itself.
        last = drowned.view(len(rows), -1).gather(1, which[:, -1:])[:, 0]
        lost = last | far[:, -1].isinf()
        if bool(lost.any()):
            found[lost] = nearest(rows[lost], self._points, r)
        return found

    def _nearest_within(
        self, cell: int, rows: torch.Tensor, r: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The nearest of a cell: half of the squared distances, places, and whether
        the distances drown in rounding."""
        center = self._centers[cell]
        members = self._members[cell]
        matrix = measure(self._points[members] - center)
        height = _BLOCK_ROWS[rows.device.type]

        def choose(block: torch.Tensor) -> torch.Tensor:
            # About the middle of the cell: near rows would drown in rounding far off.
            offsets = block - center
            halves = product(with_one(offsets, len(matrix))[None], matrix[None])[0]
            halves = halves[:, : len(members)]
            least, which = halves.topk(r, dim=1, largest=False)
            squares = offsets.square().sum(1, keepdim=True)
            least += squares / 2
            lost = 2 * least < DROWNED * squares
            return torch.cat([least, which.to(least), lost.to(least)], dim=1)

        found = by_blocks(choose, rows, rows.new_empty(len(rows), 3 * r), height)
        least, which, lost = found.split(r, dim=1)
        return least, which.long(), lost != 0


def _by_number(numbers: torch.Tensor, count: int) -> tuple[torch.Tensor, ...]:
    """The places at which each number stands."""
    order = numbers.argsort(stable=True)
    counts = torch.bincount(numbers, minlength=count)
    return order.split(counts.tolist())


def nearest_landmarks(
    rows: torch.Tensor, landmarks: torch.Tensor | Search, n_neighbors: int
) -> Neighbors:
    """N(i) of Eq. 4, for a block of encoded rows; by a search, nearly that."""
    if isinstance(landmarks, Search):
        columns, landmarks = landmarks.nearest(rows, n_neighbors), landmarks.points
    else:
        columns = nearest(rows, landmarks, n_neighbors)
    squared = squared_distances(rows, landmarks, columns)
    return Neighbors(columns.int(), squared)  # half the memory of long numbers
