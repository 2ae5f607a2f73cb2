"""Rows that do not lie in memory: read in blocks, learnt from by drawing.

What is drawn depends on the number of rows and the seed alone, not on how the rows are
stored: a file, its copy in another format and the same rows on a cluster learn from the
same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from scedae._random import generator
from scedae._rows.interface import Rows
from scedae._rows.memory import AtHand, MemoryRows
from scedae._rows.numbers import working_dtype

# Rows that are drawn at a time, to train on for an epoch or to learn landmarks and
# centres from: this many, and fewer where they are wide (256 MB in float32).
DRAWN_ROWS = 1 << 17
DRAWN_NUMBERS = 1 << 26

# An epoch takes long runs of rows at few places, since there are many epochs; the
# sample takes short ones at many places, since it is taken once and must be fair even
# where the rows are sorted.
EPOCH_PLACES = 32
SAMPLE_PLACES = 1024

# Rows that the sums behind the embedding are taken over, at as many places as the
# sample: what more of them add is less than what the sample leaves open.
SUMMED_ROWS = 1 << 21

# A block that is read: 64k rows, fewer where they are wide (32 MB in float32).
_BLOCK_ROWS = 1 << 16
_BLOCK_NUMBERS = 1 << 23


def block_height(n_columns: int) -> int:
    return min(max(_BLOCK_NUMBERS // max(n_columns, 1), 16), _BLOCK_ROWS)


def fits_in_memory(n_rows: int, n_columns: int) -> bool:
    """Whether there are no more rows than would be drawn."""
    return n_rows <= _n_wanted(n_columns)


def _n_wanted(n_columns: int) -> int:
    return min(DRAWN_ROWS, max(DRAWN_NUMBERS // max(n_columns, 1), 1))


def scattered_runs(
    n_rows: int, n_wanted: int, n_places: int, generator: torch.Generator
) -> list[slice]:
    """Runs of equal length at random places, in their order; all rows if so many."""
    if n_wanted >= n_rows:
        return [slice(0, n_rows)]
    length = max(n_wanted // n_places, 1)
    n_slots = n_rows // length
    # Slots would leave out the last rows for good: they begin somewhere else each time.
    first = int(torch.randint(n_rows - n_slots * length + 1, (), generator=generator))
    chosen = torch.randperm(n_slots, generator=generator)[: n_wanted // length]
    starts = (first + chosen.sort().values * length).tolist()
    return [slice(start, start + length) for start in starts]


class Stream(Rows):
    """Rows that are read: a block at a time, or some that are drawn."""

    all_at_hand = False

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype,
        names: Sequence[str] | None,
        device: torch.device | str,
    ) -> None:
        self.n_rows, self.n_columns = shape
        self.dtype = working_dtype(dtype)
        self.names = names
        self.device = device
        # Decided once, here: workers must draw the same.
        self._n_wanted = _n_wanted(self.n_columns)
        self.rows_per_epoch = self.n_rows
        if self._n_wanted < self.n_rows:
            length = max(self._n_wanted // EPOCH_PLACES, 1)
            self.rows_per_epoch = self._n_wanted // length * length
        self._samples: dict[int, AtHand] = {}

    def draw_like(self, other: Stream) -> None:
        """From now on draw, and scale, the rows that another view of them does."""
        self._n_wanted, self.rows_per_epoch = other._n_wanted, other.rows_per_epoch
        self.dtype = other.dtype

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_samples": {}}  # workers have no use for it

    def runs_to_sum(self, seed: int) -> Sequence[slice] | None:
        if self.n_rows <= SUMMED_ROWS:
            return None
        draw = generator(seed, "sums")
        return scattered_runs(self.n_rows, SUMMED_ROWS, SAMPLE_PLACES, draw)

    def draw(self, n_places: int, generator: torch.Generator) -> torch.Tensor:
        """Some raw rows, in their order; the same for any way to store them."""
        return self.read(
            scattered_runs(self.n_rows, self._n_wanted, n_places, generator)
        )

    def sample(self, seed: int) -> AtHand:
        """Rows from many places, read once."""
        if seed not in self._samples:
            drawn = self.draw(SAMPLE_PLACES, generator(seed, "sample"))
            self._samples = {seed: MemoryRows(drawn.numpy(), self.home).brought()}
        return self._samples[seed]
