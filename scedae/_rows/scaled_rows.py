"""Rows as the networks see them: moved to where the work is done, then scaled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from scedae._random import generator
from scedae._rows.interface import Rows
from scedae._rows.marginals import find_marginals, rows_to_look_at
from scedae._rows.memory import AtHand, TensorRows
from scedae._rows.scaling import Scaler, Scaling, fit_scaler, is_one_unit
from scedae._rows.statistics import Statistics
from scedae._rows.stream import EPOCH_PLACES, Stream
from scedae._rows.view_scaler import AnyScaler

# Scaled numbers that are kept, so that no step has to scale them again: 16 MB on the
# host (256 MB where rows are turned, which takes longer), 2 GB on a GPU.
_KEPT_NUMBERS = {"cpu": 1 << 22, "cuda": 1 << 29}
_KEPT_TURNED = 1 << 26

# Rows that are scaled in one go where all of them are kept.
_SCALED_TOGETHER = 1 << 10

# Trainings side by side may be an epoch apart.
_KEPT_EPOCHS = 2


@dataclass(frozen=True)
class OnScaled:
    """A kernel for scaled rows as one for raw rows; it travels to where they are."""

    kernel: Callable[[torch.Tensor], Any]
    scaling: Scaling

    def __call__(self, block: torch.Tensor) -> Any:
        return self.kernel(self.scaling(block))


def on_scaled(
    rows: Rows, scaler: AnyScaler, kernel: Callable[[torch.Tensor], Any]
) -> OnScaled:
    """A kernel for scaled rows, as passes over these rows want it."""
    return OnScaled(kernel, Scaling(scaler, rows.dtype, rows.device))


class ScaledRows:
    """Rows in memory: gathered, moved to where the work is done, then scaled.

    Rows that are few enough are scaled once and kept.
    """

    def __init__(self, rows: AtHand, scaler: AnyScaler) -> None:
        self._rows, target = rows, rows.home
        self._scale = Scaling(scaler.to(target), rows.dtype, target)
        self.device = rows.place
        self.n_rows, self.n_columns = rows.n_rows, scaler.n_columns
        most = _KEPT_NUMBERS[target.type]
        if scaler.turns:
            most = max(most, _KEPT_TURNED)
        few = rows.n_rows * scaler.n_columns <= most
        self._travels = self.device != target
        self._may_keep = few and not self._travels
        self._kept: torch.Tensor | None = None

    def epoch(self, number: int) -> ScaledRows:
        """The rows an epoch draws from: here always all of them."""
        return self

    def sample(self) -> ScaledRows:
        """Rows to learn landmarks and centres from: here all of them."""
        return self

    def take(self, index: torch.Tensor) -> torch.Tensor:
        """Scaled rows with the given numbers; the index lives where the rows do."""
        if self._may_keep:
            return self._all().index_select(0, index)
        return self._scale(self._rows.take(index, pinned=self._travels))

    def blocks(self) -> Iterator[torch.Tensor]:
        """All rows in their order, a block at a time."""
        return self._scaled_blocks() if self._kept is None else iter([self._kept])

    def _all(self) -> torch.Tensor:
        if self._kept is None:
            # Filled in place, and by few rows at a time: parts to be joined, and what
            # scaling leaves in between, would need a multiple of what is kept.
            shape, place = (self.n_rows, self.n_columns), self._scale.place
            kept, start = torch.empty(shape, dtype=torch.float32, device=place), 0
            for block in self._rows.blocks():
                for part in block.split(_SCALED_TOGETHER):
                    kept[start : start + len(part)] = self._scale(part)
                    start += len(part)
            self._kept = kept
        return self._kept

    def _scaled_blocks(self) -> Iterator[torch.Tensor]:
        return map(self._scale, self._rows.blocks())


class DrawnEpochs:
    """Rows that do not lie in memory, as a source of batches.

    It has as many rows as one epoch draws: each epoch is a buffer of rows from
    shuffled places, which the trainings shuffle once more, each in its own order. So
    the number of steps does not grow with the rows.
    """

    def __init__(self, rows: Stream, scaler: AnyScaler, seed: int) -> None:
        self._raw = rows
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
                drawn = self._raw.draw(
                    EPOCH_PLACES, generator(self._seed, "epoch", number)
                )
                scaled = torch.cat([self._scaling(b) for b in drawn.split(1 << 14)])
                self._epochs[number] = TensorRows(scaled, scaled.dtype)
                while len(self._epochs) > _KEPT_EPOCHS:
                    self._epochs.pop(next(iter(self._epochs)))  # asked for first
            return self._epochs[number]

    def sample(self) -> ScaledRows:
        """Rows from many places, to learn landmarks and centres from."""
        return ScaledRows(self._raw.sample(self._seed), self._scaling.scaler)


TrainingRows = ScaledRows | DrawnEpochs


def scaled(rows: Rows, scaler: AnyScaler, seed: int) -> TrainingRows:
    """Rows as the networks see them; ``seed`` says which are drawn of many."""
    if isinstance(rows, Stream):
        return DrawnEpochs(rows, scaler, seed)
    return ScaledRows(rows.sample(seed), scaler)


def draw(rows: Rows, scaler: AnyScaler, at_most: int, seed: int) -> torch.Tensor:
    """Some scaled rows, from everywhere; all of them, if there are no more."""
    source = ScaledRows(rows.sample(seed), scaler)
    order = torch.randperm(source.n_rows, generator=generator(seed, "draw"))
    return source.take(order[:at_most].sort().values.to(source.device))


def learn_scaler(rows: Rows, statistics: Statistics, scale: str, seed: int) -> Scaler:
    """The scaler of these rows, with what single columns ask for."""
    scaler = fit_scaler(statistics, scale)
    if scaler.kind != "power":
        return scaler
    sample = draw(rows, scaler, rows_to_look_at(rows.n_columns), seed)
    found = find_marginals(sample, statistics.variance > 0, seed)
    alike = scale == "auto" and is_one_unit(statistics)
    if found is None or (alike and not found.has_heaps):
        return replace(scaler, kind="standard")
    return replace(scaler, marginals=found)
