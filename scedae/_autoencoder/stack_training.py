"""The training step of a stack of autoencoders, in torch's own operations."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from scedae._autoencoder.adam import Adam, Momentum
from scedae._autoencoder.batches import Batch
from scedae._autoencoder.network import AutoencoderStack, Encoder
from scedae._autoencoder.objective import CodeObjective
from scedae._autoencoder.variation import USUAL, Variation
from scedae._plain_torch import matmul_precision


class StackTraining:
    """Weights of runs that are padded to common widths, and how they learn.

    Rows are handed over in one of several slots, a few steps at a time: on a GPU a
    slot is a place in memory that stays, so that steps on it can be recorded.
    """

    def __init__(
        self,
        widths: Sequence[Sequence[int]],
        padded: Sequence[int],
        batch_size: int,
        generators: Sequence[torch.Generator],
        rates: torch.Tensor,
        device: torch.device,
        *,
        bounded: bool,
        precision: str = "float32",
        variation: Variation = USUAL,
    ) -> None:
        self._products = "high" if precision == "tf32" else "highest"
        self._code_width = widths[0][len(widths[0]) // 2]
        self._variation = variation
        self.stack = AutoencoderStack(
            widths,
            padded,
            batch_size,
            generators,
            device,
            bounded=bounded,
            variation=variation,
        )
        flat, gradient = self.stack.flat, self.stack.flat_gradient
        self._optimizer: Adam | Momentum
        self._optimizer = Adam(flat, gradient, rates, variation.epsilon)
        self._losses = torch.zeros(len(widths), dtype=torch.float32, device=device)
        self._slots: dict[int, Batch] = {}
        self._objective: CodeObjective | None = None

    def pursue(self, objective: CodeObjective, rates: torch.Tensor) -> None:
        """Go on from here with a further objective, and with a fresh optimizer."""
        self._objective = objective
        flat, gradient = self.stack.flat, self.stack.flat_gradient
        self._optimizer = self._variation.pursuing(flat, gradient, rates)

    def load(self, slot: int, batch: Batch) -> None:
        """Put the rows of some steps into a slot."""
        n_steps, n_columns = len(batch), batch.rows.shape[-1]
        if slot not in self._slots:
            rows = self.stack.batches(n_steps)
            self._slots[slot] = Batch(rows, torch.empty_like(batch.index))
        place = self._slots[slot]
        self.stack.true_rows(place.rows[:n_steps], n_columns).copy_(batch.rows)
        place.index[:n_steps].copy_(batch.index)

    def run(self, slot: int, n_steps: int) -> None:
        """Forward, backward, update; nothing here waits for a GPU."""
        batch = self._slots[slot]
        with matmul_precision(self._products):
            for rows, index in zip(batch.rows[:n_steps], batch.index, strict=False):
                self._step(rows, index)

    def _step(self, rows: torch.Tensor, index: torch.Tensor) -> None:
        activations = self.stack.forward(rows)
        loss, delta = self.stack.reconstruction_loss(activations[-1], rows)
        extra = None
        if self._objective is not None:
            codes = activations[self.stack.n_layers // 2]
            true_codes = self.stack.true_rows(codes, self._code_width)
            extra = self._objective.gradient(true_codes.contiguous(), index)
        self.stack.backward(activations, delta, extra)
        self._optimizer.step()
        self._losses += loss

    def take_losses(self) -> torch.Tensor:
        """Sum over steps of each member's loss since this was last asked."""
        losses = self._losses.clone()
        self._losses.zero_()
        return losses

    def encoder(self, member: int) -> Encoder:
        return self.stack.encoder(member)

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes."""
        extra = self._objective.state() if self._objective else []
        return [self.stack.flat, self._losses, *self._optimizer.state(), *extra]
