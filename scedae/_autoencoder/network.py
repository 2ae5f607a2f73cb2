"""A stack of autoencoders, as plain tensors with a leading axis for the member.

Member i of the stack is the i-th slice of every tensor, so that one batched matrix
product serves all members. The backward pass is written out: a multilayer perceptron
needs a dozen lines for it, it leaves nothing behind for a graph of captured kernels
to trip over, and on small networks it saves the bookkeeping that would otherwise
take longer than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from scedae._autoencoder.variation import USUAL, Variation
from scedae._numerics import column_sums, product, round_up

Layer = tuple[torch.Tensor, torch.Tensor]


def layer_widths(
    n_columns: int, hidden: Sequence[int], encoding_dim: int
) -> tuple[int, ...]:
    """Widths from the input through the encoding and back (mirrored decoder)."""
    return (n_columns, *hidden, encoding_dim, *reversed(hidden), n_columns)


def is_linear(layer: int, n_layers: int) -> bool:
    """The encoding layer and the output have no ReLU."""
    return layer in (n_layers // 2 - 1, n_layers - 1)


def _sigmoid(logits: torch.Tensor) -> torch.Tensor:
    """The logistic function, the same for a number wherever it stands.

    On a CPU the numbers at the end that fill no vector take another exponential,
    right to another last bit: in double precision that bit is rounded away.
    """
    if logits.device.type == "cpu":
        return logits.double().sigmoid_().float()
    return logits.sigmoid()


def glorot_uniform(
    widths: Sequence[int], generator: torch.Generator
) -> list[torch.Tensor]:
    """Initial weights of one member, (in, out) a layer; biases start at zero."""
    weights = []
    for n_in, n_out in pairwise(widths):
        limit = (6 / (n_in + n_out)) ** 0.5
        weight = torch.empty(n_in, n_out, dtype=torch.float32)
        weights.append(weight.uniform_(-limit, limit, generator=generator))
    return weights


def flat_layers(
    widths: Sequence[int], n_members: int, device: torch.device
) -> tuple[torch.Tensor, list[Layer]]:
    """Zeros for all parameters as one tensor, and its parts.

    Those are (m, in, out) weights and (m, 1, out) biases, layer after layer.
    """
    shapes = [(n_members, n, b) for a, b in pairwise(widths) for n in (a, 1)]
    sizes = [math.prod(shape) for shape in shapes]
    # Rounded up: a kernel may treat the last few numbers, those that fill no vector,
    # with another rounding. They must not be weights.
    n_values = -(-sum(sizes) // 1024) * 1024
    flat = torch.zeros(n_values, dtype=torch.float32, device=device)
    parts = [
        part.view(shape)
        for part, shape in zip(flat[: sum(sizes)].split(sizes), shapes, strict=True)
    ]
    return flat, list(zip(parts[::2], parts[1::2], strict=True))


@dataclass(frozen=True)
class Encoder:
    """The first half of a trained member: the part that predicting needs."""

    layers: tuple[Layer, ...]  # (in, out), (out,)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Codes of shape (n, encoding_dim); ReLU inside, linear at the end."""
        for i, (weight, bias) in enumerate(self.layers):
            rows = product(rows[None], weight[None])[0].add_(bias)
            if i < len(self.layers) - 1:
                rows.relu_()
        return rows

    @property
    def encoding_dim(self) -> int:
        return self.layers[-1][0].shape[1]

    def to(self, device: torch.device) -> Encoder:
        return Encoder(tuple((w.to(device), b.to(device)) for w, b in self.layers))


class AutoencoderStack:
    """Autoencoders of equal depth side by side, with their gradients.

    Members of different widths are padded with zeros to common ones, and those to
    what products want (``_numerics``); so are batches. A padded unit has no weight in
    and none out, so it stays zero through every step, and a padded row has no gradient:
    padding costs arithmetic, never accuracy. All parameters are views into one flat
    tensor, and so are all gradients: the optimizer sees a single tensor however deep
    the networks.

    Parameters
    ----------
    widths : sequence of widths, one a member
        True ones, input and output included.
    padded : sequence of int
        Widths that hold those of every member.
    batch_size : int
        Rows of every batch.
    """

    def __init__(
        self,
        widths: Sequence[Sequence[int]],
        padded: Sequence[int],
        batch_size: int,
        generators: Sequence[torch.Generator],
        device: torch.device,
        *,
        bounded: bool,
        variation: Variation = USUAL,
    ) -> None:
        self.bounded, self._variation = bounded, variation
        self.n_members = len(widths)
        self.n_layers = len(widths[0]) - 1
        self._widths = widths
        self._batch_size, self._n_columns = batch_size, widths[0][0]
        padded = [round_up(width) for width in padded]
        self.flat, self.layers = flat_layers(padded, self.n_members, device)
        self.flat_gradient, self._gradients = flat_layers(
            padded, self.n_members, device
        )
        # Memory for all layers of a batch, kept from step to step: fresh memory each
        # time would come from the system page by page.
        self._outputs = [self._room(width) for width in padded[1:]]
        self._deltas = [self._room(width) for width in padded[1:]]
        for member, generator in enumerate(generators):
            drawn = glorot_uniform(widths[member], generator)
            for (weights, _), weight in zip(self.layers, drawn, strict=True):
                weights[member, : weight.shape[0], : weight.shape[1]].copy_(weight)

    def _room(self, width: int) -> torch.Tensor:
        return self.flat.new_zeros(self.n_members, round_up(self._batch_size), width)

    def batches(self, n_steps: int) -> torch.Tensor:
        """Zeros in the shape of padded batches, (steps, m, batch, d)."""
        height, width = round_up(self._batch_size), round_up(self._n_columns)
        return self.flat.new_zeros(n_steps, self.n_members, height, width)

    def true_rows(self, padded: torch.Tensor, width: int) -> torch.Tensor:
        """The part of padded rows that is no padding."""
        return padded[..., : self._batch_size, :width]

    def forward(self, batch: torch.Tensor) -> list[torch.Tensor]:
        """Activations of every layer, the padded (m, batch, d) input first.

        They are valid until the next call.
        """
        activations = [batch]
        for i, (weight, bias) in enumerate(self.layers):
            out = product(activations[-1], weight, out=self._outputs[i]).add_(bias)
            if i == self.n_layers // 2 - 1:
                self._variation.code(out)
            activations.append(out if is_linear(i, self.n_layers) else out.relu_())
        return activations

    def reconstruction_loss(
        self, output: torch.Tensor, batch: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss of each member (m,) and its gradient at the padded output.

        Eq. 2 of the paper. Rows in [0, 1] are read as probabilities (sigmoid and
        binary cross-entropy, on logits for stability), others by squared error.
        """
        output = self.true_rows(output, self._n_columns)
        batch = self.true_rows(batch, self._n_columns)
        size = batch[0].numel()
        delta = self.true_rows(self._deltas[-1], self._n_columns)  # zero beside it
        if self.bounded:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                output, batch, reduction="none"
            )
            torch.sub(_sigmoid(output), batch, out=delta).div_(size)
        else:
            torch.sub(output, batch, out=delta)
            loss = delta.square()
            delta.mul_(2 / size)
        return loss.sum(2).sum(1) / size, self._deltas[-1]

    def backward(
        self,
        activations: list[torch.Tensor],
        delta: torch.Tensor,
        at_codes: torch.Tensor | None = None,
    ) -> None:
        """Fill the gradients, given the loss gradient at the output.

        ``at_codes`` (m, batch, e) is what a further term of the loss adds at the codes.
        """
        for i in reversed(range(self.n_layers)):
            if at_codes is not None and i == self.n_layers // 2 - 1:
                self.true_rows(delta, at_codes.shape[2]).add_(at_codes)
            below = activations[i]
            weight_gradient, bias_gradient = self._gradients[i]
            product(below.transpose(1, 2), delta, out=weight_gradient)
            if self._variation.bias:  # else it stays zero
                column_sums(delta, out=bias_gradient)
            if i > 0:
                weight = self.layers[i][0].transpose(1, 2)
                delta = product(delta, weight, out=self._deltas[i - 1])
                if not is_linear(i - 1, self.n_layers):
                    # ReLU's own kernel: masked_fill_ is several times slower on a CPU.
                    torch.ops.aten.threshold_backward(delta, below, 0, grad_input=delta)
                elif i == self.n_layers // 2:
                    self._variation.code_gradient(delta, below)

    def encoder(self, member: int) -> Encoder:
        """A copy of one member's encoder, as it stands now, without its padding."""
        half = zip(
            self.layers[: self.n_layers // 2],
            pairwise(self._widths[member]),
            strict=False,
        )
        return Encoder(
            tuple(
                (weight[member, :n_in, :n_out].clone(), bias[member, 0, :n_out].clone())
                for (weight, bias), (n_in, n_out) in half
            )
        )
