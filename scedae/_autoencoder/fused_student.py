"""The step of the network that refines, as seventeen GPU kernels.

It computes what ``StudentTraining`` does. The probe that looks for the worst direction
does not depend on the network, so that rows and probes pass through it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from scedae._autoencoder.batches import Batch
from scedae._autoencoder.fused_layers import FusedLayers, Values, tiled
from scedae._autoencoder.network import Encoder
from scedae._autoencoder.student import PROBE, STEADINESS, TINY, Lesson
from scedae._autoencoder.student_kernels import (
    lesson_kernel,
    move_kernel,
    probe_kernel,
)
from scedae._numerics import lengths

# Numbers that a program of these kernels holds of each output, and rows at most.
_NUMBERS, _MOST_ROWS = 4096, 32
# Rows and columns that a program moves at a time.
_MOVED = {"ROWS": 16, "COLUMNS": 64}
# Of more classes each program would read too many sums.
MOST_CLASSES = 512


@dataclass(frozen=True)
class _Slot:
    """Some steps, one after another: rows and probes, and what is to be learnt."""

    plain: torch.Tensor  # (steps, rows, width)
    transposed: torch.Tensor  # (steps, width, rows)
    labels: torch.Tensor  # (steps, batch)
    taught: torch.Tensor  # (steps, batch), summing to one
    radius: torch.Tensor  # (steps, batch)


class FusedStudent:
    """The weights of one classifier, and how they learn, on a GPU with Triton.

    The parameters are those of ``StudentTraining``.
    """

    def __init__(
        self,
        widths: Sequence[int],
        lesson: Lesson,
        batch_size: int,
        generator: torch.Generator,
        rates: torch.Tensor,
        *,
        precision: str = "float32",
    ) -> None:
        self._widths, self._lesson, self._size = widths, lesson, batch_size
        device, self._half = lesson.labels.device, tiled(batch_size)
        n_layers = len(widths) - 1
        self._layers = FusedLayers(
            [widths],
            [generator],
            2 * self._half,
            rates,
            device,
            is_linear=lambda layer: layer == n_layers - 1,
            # A probe is too short for numbers of 16 bits.
            precision="float32" if precision == "float32" else "tf32",
        )
        self._outputs = [self._layers.values(i) for i in range(1, n_layers + 1)]
        self._deltas = [self._layers.values(i) for i in range(n_layers + 1)]
        columns = 1 << (widths[-1] - 1).bit_length()
        n_rows = max(min(_NUMBERS // columns, _MOST_ROWS), 1)
        self._blocks = {"ROWS": n_rows, "COLUMNS": columns}
        self._n_blocks = self._half // n_rows
        self._sums = torch.zeros(
            self._n_blocks, columns, dtype=torch.float32, device=device
        )
        self._losses = self._sums.new_zeros(self._n_blocks)
        self._slots: dict[int, _Slot] = {}
        self._directions = torch.Generator(device)
        self._directions.manual_seed(int(torch.randint(2**62, (), generator=generator)))

    def load(self, slot: int, batch: Batch) -> None:
        """Put the rows of some steps into a slot, and probes in random directions.

        Those are drawn here, since nothing random can be recorded.
        """
        if slot not in self._slots:
            self._slots[slot] = self._room(len(batch))
        place, n_steps, lesson = self._slots[slot], len(batch), self._lesson
        rows, index = batch.rows[:, 0], batch.index[:, 0]
        radius = lesson.radius[index]
        directions = torch.empty_like(rows).normal_(generator=self._directions)
        flat = directions.view(-1, directions.shape[2])
        directions /= (lengths(flat) + TINY).view(n_steps, -1, 1)
        true = slice(self._size), slice(self._widths[0])
        plain = place.plain[:n_steps]
        plain[:, : self._half][:, *true] = rows
        plain[:, self._half :][:, *true] = rows + PROBE * radius[..., None] * directions
        if self._layers.both:
            place.transposed[:n_steps].copy_(plain.mT)
        taught = lesson.taught[index]
        real = slice(n_steps), slice(self._size)
        place.taught[*real] = taught / taught.sum(1, keepdim=True).clamp(min=1)
        place.labels[*real], place.radius[*real] = lesson.labels[index], radius

    def _room(self, n_steps: int) -> _Slot:
        like = self._outputs[0].plain
        width = self._layers.padded[0][0]
        plain = like.new_zeros(n_steps, 2 * self._half, width)
        plain[..., self._widths[0]] = 1
        transposed = plain.mT.contiguous() if self._layers.both else plain
        # Of padded length: a step's part begins where kernels expect it, in every step.
        # Else later steps would need kernels that a first one did not compile.
        per_row = self._sums.new_zeros(n_steps, self._half)
        return _Slot(
            plain, transposed, per_row.long(), per_row, torch.zeros_like(per_row)
        )

    def run(self, slot: int, n_steps: int) -> None:
        """Two forward passes, two backward, one update; nothing waits for the GPU."""
        for step in range(n_steps):
            self._step(step, self._slots[slot])
        self._layers.count(n_steps)

    def _step(self, step: int, slot: _Slot) -> None:
        layers, last = self._layers, self._layers.n_layers - 1
        rows = Values(slot.plain[step], slot.transposed[step])
        inputs, half = [rows, *self._outputs], self._half
        self._forward(inputs, 0)
        self._probe()
        for layer in reversed(range(layers.n_layers)):
            self._backward(layer, inputs, half)
        self._move(rows, slot.radius[step])
        self._forward(inputs, half)
        self._learn(slot.labels[step], slot.taught[step])
        for layer in range(last, -1, -1):
            # The weights of a layer may change when the gradient has passed them.
            if layer > 0:
                self._backward(layer, inputs, 0)
            with layers.aside():
                layers.update(step, layer, inputs[layer], self._deltas[layer + 1])
        layers.join()

    def _forward(self, inputs: list[Values], first_row: int) -> None:
        for layer in range(self._layers.n_layers):
            self._layers.forward(layer, inputs[layer], inputs[layer + 1], first_row)

    def _backward(self, layer: int, inputs: list[Values], first_row: int) -> None:
        above, below = self._deltas[layer + 1], self._deltas[layer]
        self._layers.backward(layer, above, inputs[layer], below, first_row)

    def _probe(self) -> None:
        probe_kernel[(self._n_blocks,)](
            self._outputs[-1].plain,
            self._deltas[-1].plain,
            self._sums,
            self._half,
            self._size,
            self._widths[-1],
            self._layers.padded[0][-1],
            TINY=TINY,
            **self._blocks,
        )

    def _move(self, rows: Values, radius: torch.Tensor) -> None:
        move_kernel[(self._half // _MOVED["ROWS"],)](
            rows.plain,
            rows.transposed,
            self._deltas[0].plain,
            radius,
            self._half,
            self._size,
            self._widths[0],
            self._layers.padded[0][0],
            TINY=TINY,
            SUM_AXIS_LAST=self._layers.both,
            **_MOVED,
        )

    def _learn(self, labels: torch.Tensor, taught: torch.Tensor) -> None:
        lesson_kernel[(self._n_blocks,)](
            self._outputs[-1].plain,
            self._deltas[-1].plain,
            self._deltas[-1].transposed,
            self._sums,
            labels,
            taught,
            self._lesson.shares,
            self._losses,
            self._half,
            self._size,
            self._widths[-1],
            self._layers.padded[0][-1],
            STEADINESS=STEADINESS,
            SUM_AXIS_LAST=self._layers.both,
            **self._blocks,
        )

    def take_losses(self) -> torch.Tensor:
        """Sum over steps of the loss since this was last asked, (1,)."""
        losses = self._losses.sum(0, keepdim=True)
        self._losses.zero_()
        return losses

    def encoder(self, member: int = 0) -> Encoder:
        """A copy of the network as it stands; its code has a number for each class."""
        return self._layers.encoder(member, self._layers.n_layers)

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes and a later one reads."""
        return [*self._layers.state(), self._losses]
