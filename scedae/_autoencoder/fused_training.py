"""The training step of an ensemble as a few GPU kernels for all members at once.

It computes what ``StackTraining`` does, for members of any widths and equal depth,
with nothing but padding to the next tile. ``kernels.py`` explains the tricks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import torch

from scedae._autoencoder.adam import BETA_1, BETA_2, EPSILON
from scedae._autoencoder.batches import Batch
from scedae._autoencoder.kernels import (
    LAYER_FIELDS,
    TILE,
    backward_kernel,
    forward_kernel,
    load_kernel,
    reconstruct_kernel,
    update_kernel,
)
from scedae._autoencoder.network import Encoder, glorot_uniform, is_linear
from scedae._autoencoder.objective import CodeObjective

# Shape of the tiles, by measurement on an H200 (docs/design.md). How many numbers are
# summed in one go does not depend on company: nor do the weights, to the last bit.
_TILES = {"ROWS": TILE, "COLUMNS": TILE, "num_warps": 4}
_FLOAT32 = {"DEPTH": 32, "SUM_AXIS_LAST": True}
_OPTIONS = {
    "float32": {**_TILES, **_FLOAT32, "PRECISION": "ieee"},
    "tf32": {**_TILES, **_FLOAT32, "PRECISION": "tf32"},
    "bfloat16": {**_TILES, "DEPTH": 64, "SUM_AXIS_LAST": False, "PRECISION": "tf32"},
}
_STAGES = {"float32": (3, 3), "tf32": (4, 6), "bfloat16": (4, 3)}  # products, update


def _padded(n: int) -> int:
    return -(-n // TILE) * TILE


@dataclass(frozen=True)
class _Values:
    """Numbers of all members, member after member, and their transposes if kept."""

    plain: torch.Tensor
    transposed: torch.Tensor

    @classmethod
    def zeros(cls, like: torch.Tensor, size: int, *, both: bool) -> _Values:
        plain = like.new_zeros(size)
        return cls(plain, torch.zeros_like(plain) if both else plain)


class FusedTraining:
    """Weights of runs of any widths, and how they learn, on a GPU with Triton."""

    def __init__(
        self,
        widths: Sequence[Sequence[int]],
        generators: Sequence[torch.Generator],
        batch_size: int,
        rates: torch.Tensor,
        device: torch.device,
        *,
        bounded: bool,
        precision: str,
    ) -> None:
        self._widths = widths
        self._n_members, self._n_layers = len(widths), len(widths[0]) - 1
        self._batch_size, self._n_rows = batch_size, _padded(batch_size)
        self._bounded = bounded
        self._options = _OPTIONS[precision]
        self._product_stages, self._update_stages = _STAGES[precision]
        self._both = bool(self._options["SUM_AXIS_LAST"])
        # One more for the column of ones.
        self._padded = [[_padded(w + 1) for w in member] for member in widths]
        self._widest = [max(column) for column in zip(*self._padded, strict=True)]

        tables, self._weight_offsets, n_weights = self._lay_out()
        self._tables = [table.to(device) for table in tables]
        self._master = torch.zeros(n_weights, dtype=torch.float32, device=device)
        self._first = torch.zeros_like(self._master)
        self._second = torch.zeros_like(self._master)
        self._draw_weights(generators)
        dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        copy = torch.zeros_like(self._master, dtype=dtype)
        self._weights = _Values(self._master if self._both else copy, copy)
        self._copy_weights()

        like = torch.empty(0, dtype=dtype, device=device)
        sizes = [
            self._n_rows * sum(column) for column in zip(*self._padded, strict=True)
        ]
        self._activations = [
            _Values.zeros(like, size, both=self._both) for size in sizes[1:-1]
        ]
        self._deltas = [
            _Values.zeros(like, size, both=self._both) for size in sizes[1:]
        ]
        n_tiles = self._n_rows // TILE * (self._widest[-1] // TILE)
        self._losses = torch.zeros(
            self._n_members, n_tiles, dtype=torch.float32, device=device
        )
        self._schedule = _adam_schedule(rates).to(device)
        self._n_done = torch.zeros((), dtype=torch.long, device=device)
        self._slots: dict[int, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}
        self._objective: CodeObjective | None = None
        self._side = torch.cuda.Stream(device) if device.type == "cuda" else None

    def _lay_out(self) -> tuple[list[torch.Tensor], list[list[int]], int]:
        """Tables of the kernels, where each member's weights begin, and their sum."""
        tables, offsets, n_weights = [], [], 0
        for layer in range(self._n_layers):
            table, starts = torch.zeros(self._n_members, LAYER_FIELDS).long(), []
            n_inputs = n_outputs = 0
            for member, widths in enumerate(self._widths):
                n_in, n_out = self._padded[member][layer : layer + 2]
                true_in, true_out = widths[layer : layer + 2]
                fields = (
                    n_in,
                    n_out,
                    true_in,
                    true_out,
                    n_inputs,
                    n_outputs,
                    n_weights,
                )
                table[member] = torch.tensor(fields)
                starts.append(n_weights)
                n_inputs += self._n_rows * n_in
                n_outputs += self._n_rows * n_out
                n_weights += n_in * n_out
            tables.append(table)
            offsets.append(starts)
        return tables, offsets, n_weights

    def _block(self, flat: torch.Tensor, member: int, layer: int) -> torch.Tensor:
        """One member's padded weights of a layer, of shape (in, out)."""
        n_in, n_out = self._padded[member][layer : layer + 2]
        start = self._weight_offsets[layer][member]
        return flat[start : start + n_in * n_out].view(n_in, n_out)

    def _draw_weights(self, generators: Sequence[torch.Generator]) -> None:
        for member, generator in enumerate(generators):
            for layer, weight in enumerate(
                glorot_uniform(self._widths[member], generator)
            ):
                n_in, n_out = weight.shape
                self._block(self._master, member, layer)[:n_in, :n_out] = weight.to(
                    self._master.device
                )

    def _copy_weights(self) -> None:
        """Bring the copies that products read in line with the master copy."""
        if not self._both:
            self._weights.plain.copy_(self._master)
            return
        for member in range(self._n_members):
            for layer in range(self._n_layers):
                block = self._block(self._master, member, layer)
                copy = self._block(self._weights.transposed, member, layer)
                copy.view(block.shape[::-1]).copy_(block.T)

    def pursue(self, objective: CodeObjective, rates: torch.Tensor) -> None:
        """Go on from here with a further objective, and with a fresh optimizer."""
        self._objective = objective
        self._schedule = _adam_schedule(rates).to(self._schedule.device)
        for state in (self._first, self._second, self._n_done):
            state.zero_()

    def load(self, slot: int, batch: Batch) -> None:
        """Put the rows of some steps into a slot."""
        n_steps, _, _, n_columns = batch.rows.shape
        width = self._padded[0][0]
        if slot not in self._slots:
            shape = (n_steps, self._n_members, self._n_rows, width)
            plain = self._activations[0].plain.new_zeros(shape)
            plain[..., n_columns] = 1
            both = plain.mT.contiguous() if self._both else plain
            self._slots[slot] = plain, both, batch.index.clone()
        plain, transposed, index = self._slots[slot]
        index[:n_steps].copy_(batch.index)
        n_tiles = self._n_rows // TILE * -(-n_columns // TILE)
        load_kernel[n_tiles, n_steps * self._n_members](
            batch.rows.contiguous(),
            plain,
            transposed,
            self._batch_size,
            n_columns,
            self._n_rows,
            width,
            SUM_AXIS_LAST=self._both,
            TILE=TILE,
        )

    def run(self, slot: int, n_steps: int) -> None:
        """Forward, backward, update; nothing here waits for the GPU."""
        plain, transposed, index = self._slots[slot]
        for step in range(n_steps):
            self._step(step, _Values(plain[step], transposed[step]), index[step])
        self._n_done += n_steps

    def _step(self, step: int, batch: _Values, index: torch.Tensor) -> None:
        inputs = [batch, *self._activations]
        last = self._n_layers - 1
        for layer in range(last):
            self._forward(layer, inputs[layer], inputs[layer + 1])
        self._reconstruct(inputs[last], batch)
        for layer in reversed(range(self._n_layers)):
            if layer == self._n_layers // 2 - 1:
                self._add_gradient_at_codes(index)
            # The weights of a layer may change when the gradient has passed them.
            if layer > 0:
                self._backward(layer, inputs[layer])
            with self._aside():
                self._update(step, layer, inputs[layer])
        if self._side:
            torch.cuda.current_stream().wait_stream(self._side)

    def _add_gradient_at_codes(self, index: torch.Tensor) -> None:
        """What a further objective has to say; codes have one width in all members."""
        if self._objective is None:
            return
        layer = self._n_layers // 2 - 1
        width, shape = self._widths[0][layer + 1], (self._n_members, self._n_rows, -1)
        where = slice(None), slice(self._batch_size), slice(width)
        codes = self._activations[layer].plain.view(shape)[where]
        extra = self._objective.gradient(codes.float(), index)
        self._deltas[layer].plain.view(shape)[where] += extra
        if self._both:
            turned = self._deltas[layer].transposed.view(
                self._n_members, -1, self._n_rows
            )
            turned.mT[where] += extra

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Launch on the side: updates wait for memory while products compute."""
        if self._side is None:
            yield
            return
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            yield

    def _grid(self, high: int, wide: int) -> tuple[int, int]:
        return high // TILE * (wide // TILE), self._n_members

    def _forward(self, layer: int, inputs: _Values, outputs: _Values) -> None:
        weights = self._weights.transposed if self._both else self._weights.plain
        forward_kernel[self._grid(self._n_rows, self._widest[layer + 1])](
            inputs.plain,
            weights,
            outputs.plain,
            outputs.transposed,
            self._tables[layer],
            self._n_rows,
            int(not is_linear(layer, self._n_layers)),
            num_stages=self._product_stages,
            **self._options,
        )

    def _reconstruct(self, inputs: _Values, batch: _Values) -> None:
        weights = self._weights.transposed if self._both else self._weights.plain
        reconstruct_kernel[self._grid(self._n_rows, self._widest[-1])](
            inputs.plain,
            weights,
            batch.plain,
            self._deltas[-1].plain,
            self._deltas[-1].transposed,
            self._losses,
            self._tables[-1],
            self._n_rows,
            self._batch_size,
            BOUNDED=self._bounded,
            num_stages=self._product_stages,
            **self._options,
        )

    def _backward(self, layer: int, inputs: _Values) -> None:
        backward_kernel[self._grid(self._n_rows, self._widest[layer])](
            self._deltas[layer].plain,
            self._weights.plain,
            inputs.plain,
            self._deltas[layer - 1].plain,
            self._deltas[layer - 1].transposed,
            self._tables[layer],
            self._n_rows,
            int(not is_linear(layer - 1, self._n_layers)),
            num_stages=self._product_stages,
            **self._options,
        )

    def _update(self, step: int, layer: int, inputs: _Values) -> None:
        update_kernel[self._grid(self._widest[layer], self._widest[layer + 1])](
            inputs.transposed if self._both else inputs.plain,
            self._deltas[layer].transposed if self._both else self._deltas[layer].plain,
            self._weights.plain,
            self._weights.transposed,
            self._master,
            self._first,
            self._second,
            self._schedule,
            self._n_done,
            step,
            self._tables[layer],
            self._n_rows,
            BETA_1=BETA_1,
            BETA_2=BETA_2,
            EPSILON=EPSILON,
            num_stages=self._update_stages,
            **self._options,
        )

    def take_losses(self) -> torch.Tensor:
        """Sum over steps of each member's loss since this was last asked."""
        losses = self._losses.sum(1)
        self._losses.zero_()
        return losses

    def encoder(self, member: int) -> Encoder:
        """A copy of one member's encoder, as it stands now, without its padding."""
        half = list(pairwise(self._widths[member]))[: self._n_layers // 2]
        blocks = [self._block(self._master, member, i) for i in range(len(half))]
        return Encoder(
            tuple(
                (block[:n_in, :n_out].clone(), block[n_in, :n_out].clone())
                for block, (n_in, n_out) in zip(blocks, half, strict=True)
            )
        )

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes."""
        extra = self._objective.state() if self._objective else []
        own = [self._master, self._first, self._second, self._losses, self._n_done]
        return [*own, self._weights.plain, self._weights.transposed, *extra]


def _adam_schedule(rates: torch.Tensor) -> torch.Tensor:
    """What Adam needs to know at each step, of shape (steps, 2).

    The rate over the correction of the first moment, and the correction of the root
    of the second one.
    """
    count = torch.arange(1, len(rates) + 1, dtype=torch.float64)
    rate = rates.double() / (1 - BETA_1**count)
    return torch.stack([rate, (1 - BETA_2**count).rsqrt()], dim=1).float()
