"""anchor: which landmarks are near a row; of many, only some are looked at.

The points are divided into cells by k-means, and a row is compared with those in the
cells whose centres are nearest to it: an inverted file (Sivic and Zisserman, 2003).
Of the five nearest of 63,000 digits it finds 99 in 100, and looks at one point in 31.
What is farther than the last one wanted of a row's own cell is not put in order.
Each row is compared by itself, so what is found depends on neither place nor company.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

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
from scedae._threads import n_threads, share_out

Found = TypeVar("Found")

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
    """Finds the nearest of some points; of many, nearly always.

    Parameters
    ----------
    points : tensor of shape (p, e)
    centers : tensor of shape (c, e), optional
        Of cells, where they are not to be learnt from the points.
    """

    def __init__(
        self, points: torch.Tensor, centers: torch.Tensor | None = None
    ) -> None:
        self.points, self._centers = points, centers

    def __getstate__(self) -> dict[str, torch.Tensor | None]:
        # Whoever receives it makes cells anew.
        return {"points": self.points, "_centers": self._centers}

    def nearest(self, rows: torch.Tensor, r: int) -> torch.Tensor:
        """Numbers of the ``r`` nearest points of each row, nearest first, (n, r)."""
        by_cells = are_many(self.points) or (self._centers is not None and rows.is_cpu)
        if not by_cells or not len(rows):
            return nearest(rows, self.points, r)
        found, sure = self.nearest_by_cells(rows, r)
        # As in ``nearest``, the last one tells, since the first may be the row itself.
        lost = ~sure[:, -1]
        if bool(lost.any()):
            found[lost] = nearest(rows[lost], self.points, r)
        return found

    def nearest_by_cells(
        self, rows: torch.Tensor, r: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The same, and which of them are sure, (n, r).

        Others are not there, in cells with fewer points than are wanted, or so near
        that in single precision distances drown.
        """
        parts = rows.tensor_split(-(-len(rows) // _ROWS_AT_A_TIME))
        cells = self._cells  # made once

        def search(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return cells.nearest(part, r)

        # A thread that has a part of its own does not wait; with more threads than
        # parts, they share the cells of each.
        shared = rows.is_cpu and n_threads() <= len(parts)
        pairs = share_out(search, parts) if shared else map(search, parts)
        found, sure = zip(*pairs, strict=True)
        return torch.cat(found), torch.cat(sure)

    @cached_property
    def _cells(self) -> _Cells:
        centers = self._centers
        if centers is None:
            centers = centers_of_cells(self.points)
        return _Cells(self.points, centers)


def are_many(points: torch.Tensor) -> bool:
    """Whether a search among these points goes by cells."""
    return len(points) > _FEW_POINTS[points.device.type]


def centers_of_cells(points: torch.Tensor) -> torch.Tensor:
    """Centres of the cells that a search would make of these points, (c, e)."""
    count = len(points) // _POINTS_OF_A_CELL
    # Always the same draw: the cells follow from the points, and need no file.
    order = torch.randperm(len(points), generator=generator(0, "cells"))
    some = points[order[: _LEARNT * count].to(points.device)]
    return lloyd(lambda: iter([some]), some[:count], _ROUNDS)


class _Cells:
    """Points by cell."""

    def __init__(self, points: torch.Tensor, centers: torch.Tensor) -> None:
        self._centers = centers
        home = nearest(points, centers)[:, 0]
        self._members = _by_number(home, len(centers))
        # About the middle of the cell: near rows would drown in rounding far off.
        self._matrices = [
            measure(points[members] - center)
            for members, center in zip(self._members, centers, strict=True)
        ]

    def nearest(self, rows: torch.Tensor, r: int) -> tuple[torch.Tensor, torch.Tensor]:
        """As ``Search.nearest_by_cells``.

        What is farther than the r-th in a row's own cell is none of its nearest, and
        little is left to be put in order.
        """
        n_searched = min(_SEARCHED, len(self._centers))
        asked = nearest(rows, self._centers, n_searched)
        limits = rows.new_full((len(rows), 1), torch.inf)

        def limit(cell: int, own: torch.Tensor) -> None:
            if len(self._members[cell]) >= r:
                far = self._within(cell, rows.index_select(0, own))[0]
                limits[own] = far.topk(r, dim=1, largest=False).values[:, -1:]

        def near(cell: int, places: torch.Tensor) -> tuple[torch.Tensor, ...]:
            own = places // n_searched
            far, squares = self._within(cell, rows.index_select(0, own))
            i, j = (far <= limits[own]).nonzero(as_tuple=True)
            least = far[i, j]
            drowned = 2 * least < DROWNED * squares[i]
            # Numbers that are not negative are in the order of their bits.
            keys = own[i] << 32 | least.float().view(torch.int32)
            return keys, self._members[cell][j], drowned

        self._each_cell(asked[:, 0], limit)
        found = self._each_cell(asked.flatten(), near)
        if not found:  # the cells that are near have no points: all are unsure
            none = asked.new_zeros(len(rows), r)
            return none, none.bool()
        keys, which, drowned = map(torch.cat, zip(*found, strict=True))
        keys, order = keys.sort(stable=True)
        ends = torch.arange(len(rows) + 1, device=rows.device) << 32
        ends = torch.searchsorted(keys, ends)[:, None]
        places = ends[:-1] + torch.arange(r, device=rows.device)
        chosen = order[places.clamp(max=len(order) - 1)]
        return which[chosen], ~drowned[chosen] & (places < ends[1:])

    def _each_cell(
        self, numbers: torch.Tensor, work: Callable[[int, torch.Tensor], Found]
    ) -> list[Found]:
        """What becomes of each cell with the places of its number, a block at a time.

        Cells without points or places are left out.
        """
        height = _BLOCK_ROWS[numbers.device.type]

        def blocks(cell: int) -> list[Found]:
            if not len(self._members[cell]) or not len(places[cell]):
                return []
            return [work(cell, part) for part in places[cell].split(height)]

        places = _by_number(numbers, len(self._centers))
        cells = range(len(self._centers))
        found = share_out(blocks, cells) if numbers.is_cpu else map(blocks, cells)
        return [each for some in found for each in some]

    def _within(
        self, cell: int, rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Half of the squared distances to the points of a cell, (n, p), and squared
        distances to its centre, (n,); of a block of rows."""
        center, matrix = self._centers[cell], self._matrices[cell]

        def halves(block: torch.Tensor) -> torch.Tensor:
            offsets = block - center
            squares = offsets.square().sum(1, keepdim=True)
            far = product(with_one(offsets, len(matrix))[None], matrix[None])[0]
            far = (far[:, :n_points] + squares / 2).clamp_(min=0)
            return torch.cat([far, squares], dim=1)

        n_points = len(self._members[cell])
        found = rows.new_empty(len(rows), n_points + 1)
        by_blocks(halves, rows, found, _BLOCK_ROWS[rows.device.type])
        return found[:, :-1], found[:, -1]


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
