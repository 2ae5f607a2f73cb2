"""Rows that do not lie in memory, as the networks see them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from scedae._random import generator
from scedae._rows.memory import MemoryRows, TensorRows
from scedae._rows.passes import Add, EachKernel, Tick, TotalKernel, ignore
from scedae._rows.scaling import ScaledRows, Scaler, Scaling
from scedae._rows.stream import EPOCH_PLACES, SAMPLE_PLACES, Result, Stream

# Trainings side by side may be an epoch apart.
_KEPT_EPOCHS = 2


@dataclass(frozen=True)
class OnScaled:
    """A kernel for scaled rows as one for raw rows; it travels to where they are."""

    kernel: Any
    scaling: Scaling

    def __call__(self, block: torch.Tensor) -> Any:
        return self.kernel(self.scaling(block))


class ScaledStream:
    """Draws rows to learn from, and passes over all of them, scaled.

    As a source of batches it has as many rows as one epoch draws: each epoch is a
    buffer of rows from shuffled places, which the trainings shuffle once more, each in
    its own order. So the number of steps does not grow with the rows.
    """

    def __init__(self, rows: Stream, scaler: Scaler, seed: int) -> None:
        self.rows = rows
        self._scaling = Scaling(scaler, rows.dtype, rows.device)
        self._seed = seed
        self.n_rows, self.n_columns = rows.rows_per_epoch, scaler.n_columns
        self._epochs: dict[int, TensorRows] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_epochs": {}, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({**state, "_lock": threading.Lock()})

    @property
    def device(self) -> torch.device:
        return self._scaling.place

    def epoch(self, number: int) -> TensorRows:
        """The rows of an epoch, scaled and where the networks are."""
        with self._lock:
            if number not in self._epochs:
                drawn = self.rows.draw(
                    EPOCH_PLACES, generator(self._seed, "epoch", number)
                )
                scaled = torch.cat([self._scaling(b) for b in drawn.split(1 << 14)])
                self._epochs[number] = TensorRows(scaled, scaled.dtype)
                while len(self._epochs) > _KEPT_EPOCHS:
                    self._epochs.pop(next(iter(self._epochs)))  # asked for first
            return self._epochs[number]

    def sample(self, device: torch.device) -> ScaledRows:
        """Rows from many places, to learn landmarks and centres from."""
        drawn = self.rows.draw(SAMPLE_PLACES, generator(self._seed, "sample"))
        placed = MemoryRows(drawn.numpy()).to(device)
        return ScaledRows(placed, self._scaling.scaler, device)

    def total(
        self, kernel: TotalKernel[Any], add: Add[Any], tick: Tick = ignore
    ) -> Any:
        """The sum over blocks of what the kernel makes of scaled rows."""
        return self.rows.total(OnScaled(kernel, self._scaling), add, tick)

    def each(
        self, kernel: EachKernel, results: Sequence[Result], tick: Tick = ignore
    ) -> tuple[Any, ...]:
        """What the kernel makes of each scaled row."""
        found = self.rows.each(OnScaled(kernel, self._scaling), results, tick=tick)
        return self.rows.keep(found)
