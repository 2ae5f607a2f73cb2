"""A classifier that learns from labels, and what no small change of a row may alter.

Virtual adversarial training (Miyato et al., 2019): of all steps of a given length away
from a row, the one that changes the network's answer most is found, and the answer is
taught not to change. So the border between two classes moves to where few rows lie.
The loss of a batch, with p(x) the softmax of the network's output,

    mean over taught rows of -log p_label(x)       what the labels say
    + 3 · mean over all rows of KL(p(x) ‖ p(x'))   x' is x after the worst step
    + KL(shares ‖ mean over all rows of p(x))      no class grows or dies out

has its gradients written out, like those of the autoencoders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from scedae._autoencoder.adam import Adam
from scedae._autoencoder.batches import Batch
from scedae._autoencoder.network import Encoder, flat_layers, glorot_uniform
from scedae._autoencoder.stepping import Learner
from scedae._autoencoder.training import has_triton
from scedae._numerics import column_sums, lengths, product, round_up
from scedae._plain_torch import matmul_precision

# Weight of the answers that must not change.
STEADINESS = 3.0
# The step by which the worst direction is found, as a part of the one to be taken.
PROBE = 0.1
# Keeps a division by the length of nothing from being one by zero.
TINY = 1e-30


@dataclass(frozen=True)
class Lesson:
    """What is to be learnt of n rows and k classes."""

    labels: torch.Tensor  # (n,) long
    taught: torch.Tensor  # (n,) 1 where the label is to be learnt, else 0
    radius: torch.Tensor  # (n,) how far a row may move
    shares: torch.Tensor  # (k,) of the classes, none of them zero


def start_student(
    widths: Sequence[int],
    lesson: Lesson,
    batch_size: int,
    generator: torch.Generator,
    rates: torch.Tensor,
    *,
    precision: str = "float32",
) -> Learner:
    """A ``StudentTraining``, or what computes the same by fewer kernels on a GPU."""
    usual = widths, lesson, batch_size, generator, rates
    if lesson.labels.is_cuda and has_triton():
        from scedae._autoencoder.fused_student import MOST_CLASSES, FusedStudent

        if widths[-1] <= MOST_CLASSES:
            return FusedStudent(*usual, precision=precision)
    return StudentTraining(*usual, precision=precision)


class StudentTraining:
    """The weights of one classifier, and how they learn a lesson.

    Parameters
    ----------
    widths : sequence of int
        Columns, hidden layers, classes.
    lesson : Lesson
        Of all rows, on the device of the training.
    generator : torch.Generator
        Draws the weights.
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
        self._products = "highest" if precision == "float32" else "high"
        device, padded = lesson.labels.device, [round_up(width) for width in widths]
        self._flat, self._layers = flat_layers(padded, 1, device)
        gradient, self._gradients = flat_layers(padded, 1, device)
        drawn = glorot_uniform(widths, generator)
        for (weights, _), weight in zip(self._layers, drawn, strict=True):
            weights[0, : weight.shape[0], : weight.shape[1]].copy_(weight)
        self._adam = Adam(self._flat, gradient, rates)
        self._losses = torch.zeros(1, dtype=torch.float32, device=device)
        # Rows as they are come first, and rows after their worst step below them.
        height = round_up(batch_size)
        self._clean, self._moved = slice(0, height), slice(height, 2 * height)
        self._values = [self._flat.new_zeros(1, 2 * height, w) for w in padded]
        self._deltas = [torch.zeros_like(values) for values in self._values]
        self._slots: dict[int, tuple[Batch, torch.Tensor]] = {}
        self._directions = torch.Generator(device)
        self._directions.manual_seed(int(torch.randint(2**62, (), generator=generator)))

    def load(self, slot: int, batch: Batch) -> None:
        """Put the rows of some steps into a slot, and directions to begin with.

        Those are drawn here, since nothing random can be recorded.
        """
        if slot not in self._slots:
            room = Batch(torch.empty_like(batch.rows), torch.empty_like(batch.index))
            self._slots[slot] = room, torch.empty_like(batch.rows)
        place, directions = self._slots[slot]
        place.rows[: len(batch)].copy_(batch.rows)
        place.index[: len(batch)].copy_(batch.index)
        directions[: len(batch)].normal_(generator=self._directions)

    def run(self, slot: int, n_steps: int) -> None:
        """Three forward passes (one finds the worst step), two backward, one update."""
        batch, directions = self._slots[slot]
        with matmul_precision(self._products):
            for step in range(n_steps):
                self._step(
                    batch.rows[step, 0], batch.index[step, 0], directions[step, 0]
                )

    def _step(
        self, rows: torch.Tensor, index: torch.Tensor, directions: torch.Tensor
    ) -> None:
        lesson = self._lesson
        self._rows_in(self._clean).copy_(rows)
        log_chances = torch.log_softmax(self._forward(self._clean), 1)
        chances = log_chances.exp()
        radius = lesson.radius.index_select(0, index)[:, None]
        worst = self._worst_directions(rows, chances, PROBE * radius, directions)
        self._rows_in(self._moved).copy_(rows + radius * worst)
        log_after = torch.log_softmax(self._forward(self._moved), 1)

        labels = lesson.labels.index_select(0, index)[:, None]
        taught = lesson.taught.index_select(0, index)[:, None]
        taught = taught / taught.sum().clamp(min=1)
        means = chances.mean(0).clamp(min=1e-8)
        at_clean = taught * chances
        at_clean.scatter_add_(1, labels, -taught)
        at_clean += _through_softmax(chances, -lesson.shares / means) / self._size
        self._at_answers(self._clean).copy_(at_clean)
        change = (log_after.exp() - chances).mul_(STEADINESS / self._size)
        self._at_answers(self._moved).copy_(change)
        self._backward()
        self._adam.step()

        unsteady = (chances * (log_chances - log_after)).sum() / self._size
        wrong = -(taught * log_chances.gather(1, labels)).sum()
        drift = (lesson.shares * (lesson.shares / means).log()).sum()
        self._losses += wrong + STEADINESS * unsteady + drift

    def _worst_directions(
        self,
        rows: torch.Tensor,
        chances: torch.Tensor,
        length: torch.Tensor,
        directions: torch.Tensor,
    ) -> torch.Tensor:
        """Unit vectors (b, d): one power iteration on the curvature of the change.

        It begins at random. To begin towards another row of the batch, which would
        need no random numbers, loses a point on handwritten digits.
        """
        probe = length * directions / (lengths(directions) + TINY)
        self._rows_in(self._moved).copy_(rows + probe)
        change = torch.softmax(self._forward(self._moved), 1) - chances
        # Its scale does not matter, but it must not vanish in single precision.
        change /= lengths(change) + TINY
        self._at_answers(self._moved).copy_(change)
        uphill = self._to_rows()
        return uphill / (lengths(uphill) + TINY)

    def _rows_in(self, half: slice) -> torch.Tensor:
        """The true part of what goes in, (b, d)."""
        return self._values[0][0, half][: self._size, : self._widths[0]]

    def _at_answers(self, half: slice) -> torch.Tensor:
        """The true part of the gradient at what comes out, (b, k)."""
        return self._deltas[-1][0, half][: self._size, : self._widths[-1]]

    def _forward(self, half: slice) -> torch.Tensor:
        """What the network says of one half of the rows, (b, k)."""
        values = [value[:, half] for value in self._values]
        for i, (weight, bias) in enumerate(self._layers):
            out = product(values[i], weight, out=values[i + 1]).add_(bias)
            if i < len(self._layers) - 1:
                out.relu_()
        return values[-1][0, : self._size, : self._widths[-1]].contiguous()

    def _backward(self) -> None:
        """Gradients at the weights, of both halves at once."""
        for i in reversed(range(len(self._layers))):
            weights, bias = self._gradients[i]
            product(self._values[i].mT, self._deltas[i + 1], out=weights)
            column_sums(self._deltas[i + 1], out=bias)
            if i > 0:
                self._one_layer_back(i, slice(None))

    def _to_rows(self) -> torch.Tensor:
        """The gradient at the rows of the second half, (b, d)."""
        for i in reversed(range(len(self._layers))):
            self._one_layer_back(i, self._moved)
        return self._deltas[0][0, self._moved][: self._size, : self._widths[0]]

    def _one_layer_back(self, i: int, half: slice) -> None:
        weight, below = self._layers[i][0].mT, self._values[i][:, half]
        delta = self._deltas[i][:, half]
        product(self._deltas[i + 1][:, half], weight, out=delta)
        if i > 0:
            torch.ops.aten.threshold_backward(delta, below, 0, grad_input=delta)

    def take_losses(self) -> torch.Tensor:
        """Sum over steps of the loss since this was last asked, (1,)."""
        losses = self._losses.clone()
        self._losses.zero_()
        return losses

    def encoder(self, member: int = 0) -> Encoder:
        """A copy of the network as it stands; its code has a number for each class."""
        return Encoder(
            tuple(
                (weight[member, :n_in, :n_out].clone(), bias[member, 0, :n_out].clone())
                for (weight, bias), (n_in, n_out) in zip(
                    self._layers, pairwise(self._widths), strict=True
                )
            )
        )

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes and a later one reads."""
        return [self._flat, self._losses, *self._adam.state()]


def _through_softmax(chances: torch.Tensor, at_chances: torch.Tensor) -> torch.Tensor:
    """The gradient at the output, given the one at the chances, (b, k)."""
    return chances * (at_chances - (chances * at_chances).sum(1, keepdim=True))
