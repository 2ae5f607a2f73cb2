"""Layers of several networks on a GPU, each layer of all of them by one kernel.

Networks of any widths and equal depth, with nothing but padding to the next tile.
``kernels.py`` explains the tricks. What is learnt, the training that holds them knows:
``fused_training.py`` has autoencoders, ``fused_student.py`` the network that refines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import torch

from scedae._autoencoder.adam import BETA_1, BETA_2, EPSILON
from scedae._autoencoder.kernels import (
    LAYER_FIELDS,
    TILE,
    backward_kernel,
    forward_kernel,
    update_kernel,
)
from scedae._autoencoder.network import Encoder, glorot_uniform

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


def tiled(n: int) -> int:
    """The next multiple of a tile."""
    return -(-n // TILE) * TILE


@dataclass(frozen=True)
class Values:
    """Numbers of all networks, one after another, and their transposes if kept."""

    plain: torch.Tensor
    transposed: torch.Tensor


class FusedLayers:
    """Weights of networks of any widths, and one launch for each layer of them.

    Parameters
    ----------
    widths : sequence of widths, one a network
        True ones, input and output included.
    generators : sequence of torch.Generator
        Draw the weights, one a network.
    n_rows : int
        Rows of every step, a multiple of the tile.
    rates : tensor
        The learning rate of every step.
    is_linear : callable
        Whether what leaves a layer, by number, has no ReLU.
    """

    def __init__(
        self,
        widths: Sequence[Sequence[int]],
        generators: Sequence[torch.Generator],
        n_rows: int,
        rates: torch.Tensor,
        device: torch.device,
        *,
        is_linear: Callable[[int], bool],
        precision: str,
    ) -> None:
        self._widths, self._n_rows, self._is_linear = widths, n_rows, is_linear
        self.n_members, self.n_layers = len(widths), len(widths[0]) - 1
        self.options = _OPTIONS[precision]
        self.product_stages, self._update_stages = _STAGES[precision]
        self.both = bool(self.options["SUM_AXIS_LAST"])
        # One more for the column of ones.
        self.padded = [[tiled(w + 1) for w in member] for member in widths]
        self._widest = [max(column) for column in zip(*self.padded, strict=True)]

        tables, self._weight_offsets, n_weights = self._lay_out()
        self.tables = [table.to(device) for table in tables]
        self._master = torch.zeros(n_weights, dtype=torch.float32, device=device)
        self._first = torch.zeros_like(self._master)
        self._second = torch.zeros_like(self._master)
        self._draw_weights(generators)
        dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        copy = torch.zeros_like(self._master, dtype=dtype)
        self._weights = Values(self._master if self.both else copy, copy)
        self._copy_weights()
        self._schedule = _adam_schedule(rates).to(device)
        self._n_done = torch.zeros((), dtype=torch.long, device=device)
        self._side = torch.cuda.Stream(device) if device.type == "cuda" else None

    def _lay_out(self) -> tuple[list[torch.Tensor], list[list[int]], int]:
        """Tables of the kernels, where each member's weights begin, and their sum."""
        tables, offsets, n_weights = [], [], 0
        for layer in range(self.n_layers):
            table, starts = torch.zeros(self.n_members, LAYER_FIELDS).long(), []
            n_inputs = n_outputs = 0
            for member, widths in enumerate(self._widths):
                n_in, n_out = self.padded[member][layer : layer + 2]
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
        n_in, n_out = self.padded[member][layer : layer + 2]
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
        if not self.both:
            self._weights.plain.copy_(self._master)
            return
        for member in range(self.n_members):
            for layer in range(self.n_layers):
                block = self._block(self._master, member, layer)
                copy = self._block(self._weights.transposed, member, layer)
                copy.view(block.shape[::-1]).copy_(block.T)

    def start_again(self, rates: torch.Tensor) -> None:
        """Go on with these weights, by a fresh optimizer."""
        self._schedule = _adam_schedule(rates).to(self._schedule.device)
        for state in (self._first, self._second, self._n_done):
            state.zero_()

    def values(self, layer: int) -> Values:
        """Zeros for what enters a layer; the last number is for what leaves it all."""
        size = self._n_rows * sum(member[layer] for member in self.padded)
        plain = self._weights.transposed.new_zeros(size)
        return Values(plain, torch.zeros_like(plain) if self.both else plain)

    def n_tiles(self, layer: int, n_rows: int | None = None) -> int:
        """Tiles of what enters a layer, of the widest member."""
        high = (self._n_rows if n_rows is None else n_rows) // TILE
        return high * (self._widest[layer] // TILE)

    @property
    def to_multiply(self) -> torch.Tensor:
        """The weights as products with rows read them."""
        return self._weights.transposed if self.both else self._weights.plain

    def forward(
        self, layer: int, inputs: Values, outputs: Values, first_row: int = 0
    ) -> None:
        """What leaves a layer, of the rows from ``first_row`` on."""
        n_tiles = self.n_tiles(layer + 1, self._n_rows - first_row)
        forward_kernel[n_tiles, self.n_members](
            inputs.plain,
            self.to_multiply,
            outputs.plain,
            outputs.transposed,
            self.tables[layer],
            first_row,
            self._n_rows,
            int(not self._is_linear(layer)),
            num_stages=self.product_stages,
            **self.options,
        )

    def backward(
        self,
        layer: int,
        deltas: Values,
        inputs: Values,
        in_deltas: Values,
        first_row: int = 0,
    ) -> None:
        """The gradient at what enters a layer, given that at what leaves it."""
        below = layer > 0 and not self._is_linear(layer - 1)
        n_tiles = self.n_tiles(layer, self._n_rows - first_row)
        backward_kernel[n_tiles, self.n_members](
            deltas.plain,
            self._weights.plain,
            inputs.plain,
            in_deltas.plain,
            in_deltas.transposed,
            self.tables[layer],
            first_row,
            self._n_rows,
            int(below),
            num_stages=self.product_stages,
            **self.options,
        )

    def update(self, step: int, layer: int, inputs: Values, deltas: Values) -> None:
        """Adam's step with the gradient at the weights of a layer."""
        n_tiles = self._widest[layer] // TILE * (self._widest[layer + 1] // TILE)
        update_kernel[n_tiles, self.n_members](
            inputs.transposed if self.both else inputs.plain,
            deltas.transposed if self.both else deltas.plain,
            self._weights.plain,
            self._weights.transposed,
            self._master,
            self._first,
            self._second,
            self._schedule,
            self._n_done,
            step,
            self.tables[layer],
            self._n_rows,
            BETA_1=BETA_1,
            BETA_2=BETA_2,
            EPSILON=EPSILON,
            num_stages=self._update_stages,
            **self.options,
        )

    def count(self, n_steps: int) -> None:
        """So many steps were taken since this was last said."""
        self._n_done += n_steps

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Launch on the side: updates wait for memory while products compute."""
        if self._side is None:
            yield
            return
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            yield

    def join(self) -> None:
        """Go on only when what was launched on the side is done."""
        if self._side:
            torch.cuda.current_stream().wait_stream(self._side)

    def encoder(self, member: int, n_layers: int) -> Encoder:
        """A copy of one network's first layers, as they stand, without padding."""
        layers = list(pairwise(self._widths[member]))[:n_layers]
        blocks = [self._block(self._master, member, i) for i in range(n_layers)]
        return Encoder(
            tuple(
                (block[:n_in, :n_out].clone(), block[n_in, :n_out].clone())
                for block, (n_in, n_out) in zip(blocks, layers, strict=True)
            )
        )

    def state(self) -> list[torch.Tensor]:
        """Every tensor of the weights that a step changes."""
        own = [self._master, self._first, self._second, self._n_done]
        return [*own, self._weights.plain, self._weights.transposed]


def _adam_schedule(rates: torch.Tensor) -> torch.Tensor:
    """What Adam needs to know at each step, of shape (steps, 2).

    The rate over the correction of the first moment, and the correction of the root
    of the second one.
    """
    count = torch.arange(1, len(rates) + 1, dtype=torch.float64)
    rate = rates.double() / (1 - BETA_1**count)
    return torch.stack([rate, (1 - BETA_2**count).rsqrt()], dim=1).float()
