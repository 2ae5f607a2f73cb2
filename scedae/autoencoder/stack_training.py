"""The training step of a stack of autoencoders, in torch's own operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from scedae.autoencoder.adam import Adam
from scedae.autoencoder.network import AutoencoderStack, Encoder


class StackTraining:
    """Weights of runs that are padded to common widths, and how they learn.

    Rows are handed over in one of several slots, a few steps at a time: on a GPU a
    slot is a place in memory that stays, so that steps on it can be recorded.
    """

    def __init__(
        self,
        widths: Sequence[Sequence[int]],
        padded: Sequence[int],
        generators: Sequence[torch.Generator],
        rates: torch.Tensor,
        device: torch.device,
        *,
        bounded: bool,
    ) -> None:
        self.stack = AutoencoderStack(
            widths, padded, generators, device, bounded=bounded
        )
        self._adam = Adam(self.stack.flat, self.stack.flat_gradient, rates)
        self._losses = torch.zeros(len(widths), device=device)
        self._slots: dict[int, torch.Tensor] = {}

    def load(self, slot: int, rows: torch.Tensor) -> None:
        """Put the rows of some steps, (steps, members, batch, d), into a slot."""
        if rows.device.type == "cpu" or slot not in self._slots:
            self._slots[slot] = rows
        else:
            self._slots[slot][: len(rows)].copy_(rows)

    def run(self, slot: int, n_steps: int) -> None:
        """Forward, backward, update; nothing here waits for a GPU."""
        for batch in self._slots[slot][:n_steps]:
            activations = self.stack.forward(batch)
            loss, delta = self.stack.reconstruction_loss(activations[-1], batch)
            self.stack.backward(activations, delta)
            self._adam.step()
            self._losses += loss

    def take_losses(self) -> torch.Tensor:
        """Sum over steps of each member's loss since this was last asked."""
        losses = self._losses.clone()
        self._losses.zero_()
        return losses

    def encoder(self, member: int) -> Encoder:
        return self.stack.encoder(member)

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Steps taken inside leave no trace in weights, moments or losses."""
        before = self.stack.flat.clone()
        yield
        self.stack.flat.copy_(before)
        self._adam.restart()
        self._losses.zero_()
