"""anchor, first half: choose the landmarks of an encoding."""

from __future__ import annotations

from typing import Protocol

import torch

from scedae.spectral.kmeans import Blocks, lloyd

LANDMARK_METHODS = ("kmeans", "random")

# Landmarks need to cover the rows, not to be optimal: after five rounds more work
# changes nothing that can be measured (and LSC's own code stops there too).
_LLOYD_ROUNDS = 5


class Encoding(Protocol):
    """The rows of one member, as codes or as they are, in blocks."""

    n_rows: int
    device: torch.device

    def take(self, index: torch.Tensor) -> torch.Tensor: ...

    @property
    def blocks(self) -> Blocks: ...


def choose_landmarks(
    encoding: Encoding, n_landmarks: int, method: str, generator: torch.Generator
) -> torch.Tensor:
    """Landmarks U of shape (p, e): k-means centres, or rows drawn at random."""
    chosen = torch.randperm(encoding.n_rows, generator=generator)[:n_landmarks]
    start = encoding.take(chosen.to(encoding.device))
    if method == "random":
        return start
    return lloyd(encoding.blocks, start, _LLOYD_ROUNDS)
