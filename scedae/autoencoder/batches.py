"""The rows of every step, each run in its own order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch


class RowSource(Protocol):
    """Rows ready for the network; ``take`` wants its index on ``device``."""

    n_rows: int
    n_columns: int
    device: torch.device

    def take(self, index: torch.Tensor) -> torch.Tensor: ...


class Batches:
    """Batches for runs that train together, drawn from each run's own generator.

    A last batch that would be short is left out: another order leaves out other rows
    in the next epoch.
    """

    def __init__(
        self,
        source: RowSource,
        generators: Sequence[torch.Generator],
        batch_size: int,
    ) -> None:
        self._source = source
        self._generators = generators
        self.batch_size = min(batch_size, source.n_rows)
        self.steps_per_epoch = source.n_rows // self.batch_size
        self._orders = torch.empty(0)

    def begin_epoch(self) -> None:
        """Draw the orders of an epoch, of shape (steps, runs, batch)."""
        n_used = self.steps_per_epoch * self.batch_size
        orders = [
            torch.randperm(self._source.n_rows, generator=generator)[:n_used]
            for generator in self._generators
        ]
        batches = torch.stack(orders).view(len(orders), -1, self.batch_size)
        batches = batches.transpose(0, 1).contiguous()
        self._orders = batches.to(self._source.device)

    def rows(self, first: int, last: int) -> torch.Tensor:
        """Rows of the steps ``first`` to ``last``: (steps, runs, batch, columns)."""
        index = self._orders[first:last]
        return self._source.take(index.flatten()).view(*index.shape, -1)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Runs, batch and columns: the rows of one step."""
        return len(self._generators), self.batch_size, self._source.n_columns
