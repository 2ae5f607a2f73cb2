"""The rows of every step, each run in its own order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch


class EpochRows(Protocol):
    """Rows ready for the network; ``take`` wants its index on their device."""

    def take(self, index: torch.Tensor) -> torch.Tensor: ...


class RowSource(Protocol):
    """Rows to train on. Each epoch may have others, but always ``n_rows`` of them."""

    n_rows: int
    n_columns: int

    @property
    def device(self) -> torch.device: ...

    def epoch(self, number: int) -> EpochRows: ...


@dataclass(frozen=True)
class Batch:
    """Rows of one or more steps, and their numbers."""

    rows: torch.Tensor  # (steps, runs, batch, d)
    index: torch.Tensor  # (steps, runs, batch) long

    def __len__(self) -> int:
        return len(self.rows)


class Batches:
    """Batches for runs that train together, drawn from each run's own generator.

    They come in rounds: an epoch, or fewer steps where something is to be done more
    often. A last batch of an epoch that would be short is left out, and so are steps
    that do not fill a round: another order leaves out other rows in the next epoch.
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
        self.steps_per_round = self.steps_per_epoch
        self._epoch = 0
        self._rows: EpochRows
        self._orders: torch.Tensor
        self._first = self.steps_per_epoch

    def skip(self, n_epochs: int) -> None:
        """Leave out epochs that were taken before; later ones are as after them."""
        for _ in range(n_epochs):
            self._epoch += 1
            for generator in self._generators:
                torch.randperm(self._source.n_rows, generator=generator)

    def begin_round(self) -> None:
        """Make ready for a round; draws the orders of an epoch where one ended."""
        self._first += self.steps_per_round
        if self._first + self.steps_per_round > self.steps_per_epoch:
            self._draw_orders()
            self._first = 0

    def _draw_orders(self) -> None:
        """Rows of an epoch, and their numbers of shape (steps, runs, batch)."""
        self._epoch += 1
        self._rows = self._source.epoch(self._epoch)
        n_used = self.steps_per_epoch * self.batch_size
        orders = [
            torch.randperm(self._source.n_rows, generator=generator)[:n_used]
            for generator in self._generators
        ]
        batches = torch.stack(orders).view(len(orders), -1, self.batch_size)
        batches = batches.transpose(0, 1).contiguous()
        self._orders = batches.to(self._source.device)

    def take(self, first: int, last: int) -> Batch:
        """The steps ``first`` to ``last`` of this round."""
        index = self._orders[self._first + first : self._first + last]
        rows = self._rows.take(index.flatten())
        return Batch(rows.view(*index.shape, -1), index.to(rows.device))

    def blank(self, n_steps: int, device: torch.device) -> Batch:
        """Zeros in the shape of a batch."""
        shape = (n_steps, len(self._generators), self.batch_size)
        rows = torch.zeros(
            *shape, self._source.n_columns, dtype=torch.float32, device=device
        )
        return Batch(rows, torch.zeros(shape, dtype=torch.long, device=device))
