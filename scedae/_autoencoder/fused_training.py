"""The training step of an ensemble as a few GPU kernels for all members at once.

It computes what ``StackTraining`` does, for members of any widths and equal depth,
with nothing but padding to the next tile. ``kernels.py`` explains the tricks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from scedae._autoencoder.batches import Batch
from scedae._autoencoder.fused_layers import FusedLayers, Values, tiled
from scedae._autoencoder.kernels import TILE, load_kernel, reconstruct_kernel
from scedae._autoencoder.network import Encoder, is_linear
from scedae._autoencoder.objective import CodeObjective


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
        self._batch_size, self._n_rows = batch_size, tiled(batch_size)
        self._bounded, self._code_width = bounded, widths[0][len(widths[0]) // 2]
        self._layers = FusedLayers(
            widths,
            generators,
            self._n_rows,
            rates,
            device,
            is_linear=partial(is_linear, n_layers=len(widths[0]) - 1),
            precision=precision,
        )
        n_layers = self._layers.n_layers
        self._activations = [self._layers.values(i) for i in range(1, n_layers)]
        self._deltas = [self._layers.values(i) for i in range(1, n_layers + 1)]
        self._losses = torch.zeros(
            len(widths),
            self._layers.n_tiles(n_layers),
            dtype=torch.float32,
            device=device,
        )
        self._slots: dict[int, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}
        self._objective: CodeObjective | None = None

    def pursue(self, objective: CodeObjective, rates: torch.Tensor) -> None:
        """Go on from here with a further objective, and with a fresh optimizer."""
        self._objective = objective
        self._layers.start_again(rates)

    def load(self, slot: int, batch: Batch) -> None:
        """Put the rows of some steps into a slot."""
        n_steps, n_members, _, n_columns = batch.rows.shape
        width, both = self._layers.padded[0][0], self._layers.both
        if slot not in self._slots:
            shape = (n_steps, n_members, self._n_rows, width)
            plain = self._activations[0].plain.new_zeros(shape)
            plain[..., n_columns] = 1
            transposed = plain.mT.contiguous() if both else plain
            self._slots[slot] = plain, transposed, batch.index.clone()
        plain, transposed, index = self._slots[slot]
        index[:n_steps].copy_(batch.index)
        n_tiles = self._n_rows // TILE * -(-n_columns // TILE)
        load_kernel[n_tiles, n_steps * n_members](
            batch.rows.contiguous(),
            plain,
            transposed,
            self._batch_size,
            n_columns,
            self._n_rows,
            width,
            SUM_AXIS_LAST=both,
            TILE=TILE,
        )

    def run(self, slot: int, n_steps: int) -> None:
        """Forward, backward, update; nothing here waits for the GPU."""
        plain, transposed, index = self._slots[slot]
        for step in range(n_steps):
            self._step(step, Values(plain[step], transposed[step]), index[step])
        self._layers.count(n_steps)

    def _step(self, step: int, batch: Values, index: torch.Tensor) -> None:
        layers, inputs = self._layers, [batch, *self._activations]
        for layer in range(layers.n_layers - 1):
            layers.forward(layer, inputs[layer], inputs[layer + 1])
        self._reconstruct(inputs[-1], batch)
        for layer in reversed(range(layers.n_layers)):
            if layer == layers.n_layers // 2 - 1:
                self._add_gradient_at_codes(index)
            # The weights of a layer may change when the gradient has passed them.
            deltas = self._deltas[layer]
            if layer > 0:
                layers.backward(layer, deltas, inputs[layer], self._deltas[layer - 1])
            with layers.aside():
                layers.update(step, layer, inputs[layer], deltas)
        layers.join()

    def _add_gradient_at_codes(self, index: torch.Tensor) -> None:
        """What a further objective has to say; codes have one width in all members."""
        if self._objective is None:
            return
        layer = self._layers.n_layers // 2 - 1
        n_members = self._layers.n_members
        shape = (n_members, self._n_rows, -1)
        where = slice(None), slice(self._batch_size), slice(self._code_width)
        codes = self._activations[layer].plain.view(shape)[where]
        extra = self._objective.gradient(codes.float(), index)
        self._deltas[layer].plain.view(shape)[where] += extra
        if self._layers.both:
            turned = self._deltas[layer].transposed.view(n_members, -1, self._n_rows)
            turned.mT[where] += extra

    def _reconstruct(self, inputs: Values, batch: Values) -> None:
        layers, deltas = self._layers, self._deltas[-1]
        reconstruct_kernel[layers.n_tiles(layers.n_layers), layers.n_members](
            inputs.plain,
            layers.to_multiply,
            batch.plain,
            deltas.plain,
            deltas.transposed,
            self._losses,
            layers.tables[-1],
            self._n_rows,
            self._batch_size,
            BOUNDED=self._bounded,
            num_stages=layers.product_stages,
            **layers.options,
        )

    def take_losses(self) -> torch.Tensor:
        """Sum over steps of each member's loss since this was last asked."""
        losses = self._losses.sum(1)
        self._losses.zero_()
        return losses

    def encoder(self, member: int) -> Encoder:
        """A copy of one member's encoder, as it stands now, without its padding."""
        return self._layers.encoder(member, self._layers.n_layers // 2)

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes."""
        extra = self._objective.state() if self._objective else []
        return [*self._layers.state(), self._losses, *extra]
