"""anchor, first half: choose the landmarks of an encoding."""

from __future__ import annotations

from typing import Protocol

import torch

from scedae._spectral.kmeans import Blocks, lloyd

LANDMARK_METHODS = ("kmeans", "random")

# Landmarks need to cover the rows, not to be optimal: after five rounds more work
# changes nothing that can be measured (and LSC's own code stops there too).
_LLOYD_ROUNDS = 5

# Numbers looked at to find distinct rows to start from: 64 MB in float32.
_NUMBERS_TRIED = 1 << 24


class Encoding(Protocol):
    """The rows of one member, as codes or as they are, in blocks."""

    n_rows: int
    n_columns: int
    device: torch.device

    def take(self, index: torch.Tensor) -> torch.Tensor: ...

    @property
    def blocks(self) -> Blocks: ...


def choose_landmarks(
    encoding: Encoding, n_landmarks: int, method: str, generator: torch.Generator
) -> torch.Tensor:
    """Landmarks U of shape (p, e): k-means centres, or rows drawn at random.

    Fewer than asked for, where the rows repeat themselves.
    """
    order = torch.randperm(encoding.n_rows, generator=generator)
    n_tried = max(
        n_landmarks, min(4 * n_landmarks, _NUMBERS_TRIED // encoding.n_columns)
    )
    candidates = encoding.take(order[:n_tried].to(encoding.device))
    start = candidates[first_appearances(candidates)[:n_landmarks]]
    if method == "random":
        return start
    return lloyd(encoding.blocks, start, _LLOYD_ROUNDS)


def first_appearances(rows: torch.Tensor) -> torch.Tensor:
    """Numbers of the rows that equal none before them, ascending.

    Landmarks on one spot would be each other's neighbours and cut that spot off.
    """
    spots, spot = torch.unique(rows, dim=0, return_inverse=True)
    numbers = torch.arange(len(rows), device=rows.device)
    first = torch.full_like(numbers[: len(spots)], len(rows))
    return first.scatter_reduce(0, spot, numbers, "amin").sort().values
