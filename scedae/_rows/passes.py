"""A pass over rows: what every place where rows live can do with them.

After training, everything is local to a row or a sum over rows. So a pass either maps
blocks to results of one line a row, or maps them to numbers that are added up. Rows in
memory, in a file and on a Dask cluster differ in how they walk, not in the kernels
they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import torch

Total = TypeVar("Total")

# Maps a block of raw rows (n, d) to a part of a sum, or to arrays of n lines each.
TotalKernel = Callable[[torch.Tensor], Total]
EachKernel = Callable[[torch.Tensor], tuple[torch.Tensor, ...]]
Add = Callable[[Total, Total], Total]
# Told, after each block, which share of the rows it was.
Tick = Callable[[float], None]

# Rows read at a time from memory: at most this many, and fewer where they are wide.
_BLOCK_ROWS = 4096
_BLOCK_NUMBERS = 1 << 22


def ignore(share: float) -> None:
    """The tick of passes that nobody watches."""


class Placed(Protocol):
    """Rows in the memory of the host or of a GPU."""

    n_rows: int
    n_columns: int
    device: torch.device
    dtype: torch.dtype  # wide enough for the numbers until they are scaled

    def block(self, start: int, stop: int) -> torch.Tensor: ...
    def take(self, index: torch.Tensor, *, pinned: bool) -> torch.Tensor: ...


def memory_blocks(rows: Placed) -> Iterator[torch.Tensor]:
    """All rows in their order, in blocks of a few megabytes."""
    height = min(max(_BLOCK_NUMBERS // max(rows.n_columns, 1), 16), _BLOCK_ROWS)
    for start in range(0, rows.n_rows, height):
        yield rows.block(start, min(start + height, rows.n_rows))
