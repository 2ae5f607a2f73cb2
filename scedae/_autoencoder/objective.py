"""A further term of the loss, on the codes: what joint clustering adds."""

from __future__ import annotations

from typing import Protocol

import torch


class CodeObjective(Protocol):
    """Called once a step, with the codes of a batch; may learn parameters of its own.

    All it does must be tensor operations that never wait for a GPU, since its steps
    are recorded and replayed.
    """

    def gradient(self, codes: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """Gradient at the codes (m, batch, e) of the rows named by ``index``.

        It is added to that of the mean squared error over all entries of a batch.
        """

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes, so that a rehearsal can be undone."""
