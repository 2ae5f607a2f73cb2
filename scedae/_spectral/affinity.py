"""anchor, second half, and fuse: the sparse affinity of rows to landmarks.

An affinity has exactly r entries a row, so it is kept as two tensors, column numbers
and weights: they live on a GPU as well. A fused one is its parts, side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

# A tie weaker than this part of its row's strongest ties nothing. Where outliers hang
# on the rest by such ties, the graph is in pieces for all that follows (a walk takes
# such a tie less than once in a million steps), and an eigensolver that is not told so
# spends minutes on telling their vectors apart.
_SMALLEST_TIE = 1e-6


def sums_at(index: torch.Tensor, values: torch.Tensor, size: int) -> torch.Tensor:
    """Sums of the values that share an index, of shape (size,); always the same."""
    sums = values.new_zeros(size)
    index, values = index.flatten(), values.flatten()
    if sums.device.type == "cpu":
        return sums.index_add_(0, index, values)
    return sums.index_put_((index,), values, accumulate=True)


@dataclass(frozen=True)
class Affinity:
    """A sparse matrix of shape (n, p) with equally many entries in every row."""

    columns: torch.Tensor  # (n, r) int
    weights: torch.Tensor  # (n, r) float64
    n_landmarks: int

    def column_sums(self) -> torch.Tensor:
        """Diagonal of Σ = diag(Zᵀ1), of shape (p,); the same in every run."""
        return sums_at(self.columns, self.weights, self.n_landmarks)

    def times(self, matrix: torch.Tensor) -> torch.Tensor:
        """Product with a (p, q) matrix; each row by itself."""
        return torch.nn.functional.embedding_bag(
            self.columns, matrix, per_sample_weights=self.weights, mode="sum"
        )

    def scaled(self, column_scale: torch.Tensor) -> Affinity:
        """Each column times a factor."""
        weights = self.weights * column_scale[self.columns]
        return Affinity(self.columns, weights, self.n_landmarks)

    def take(self, rows: torch.Tensor) -> Affinity:
        """Some rows, by number."""
        return Affinity(self.columns[rows], self.weights[rows], self.n_landmarks)


@dataclass(frozen=True)
class FusedAffinity:
    """Z̄ of shape (n, Σp): the parts of its members, side by side."""

    parts: tuple[Affinity, ...]

    @property
    def n_landmarks(self) -> int:
        return sum(part.n_landmarks for part in self.parts)

    @property
    def n_rows(self) -> int:
        return len(self.parts[0].columns)

    @property
    def device(self) -> torch.device:
        return self.parts[0].weights.device

    def column_sums(self) -> torch.Tensor:
        return torch.cat([part.column_sums() for part in self.parts])

    def take(self, rows: torch.Tensor) -> FusedAffinity:
        """Some rows, by number."""
        return FusedAffinity(tuple(part.take(rows) for part in self.parts))

    def times(self, matrix: torch.Tensor) -> torch.Tensor:
        """Product with a (Σp, q) matrix; each row by itself."""
        shares = matrix.split([part.n_landmarks for part in self.parts])
        products = map(Affinity.times, self.parts, shares)
        total = next(products)
        for product in products:
            total += product
        return total

    def entries(self, rows: slice = slice(None)) -> tuple[torch.Tensor, torch.Tensor]:
        """Column numbers and weights of some rows, (n, Σr) each."""
        offsets = np.cumsum([0, *(part.n_landmarks for part in self.parts)])
        columns = [
            part.columns[rows] + int(offset)
            for part, offset in zip(self.parts, offsets, strict=False)
        ]
        weights = [part.weights[rows] for part in self.parts]
        return torch.cat(columns, dim=1), torch.cat(weights, dim=1)

    def blocks(self, height: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """The entries of ``height`` rows at a time."""
        for start in range(0, self.n_rows, height):
            yield self.entries(slice(start, start + height))


@dataclass(frozen=True)
class Neighbors:
    """The r nearest landmarks of each row, and the squared distances to them."""

    columns: torch.Tensor  # (n, r) int
    squared: torch.Tensor  # (n, r) float64

    def first(self, r: int) -> Neighbors:
        """The nearest ``r`` of them."""
        columns, squared = self.columns[:, :r], self.squared[:, :r]
        return Neighbors(columns.contiguous(), squared.contiguous())

    def without_nearest(self) -> Neighbors:
        """All but the first of them, where there is another."""
        first = min(1, self.columns.shape[1] - 1)
        return Neighbors(self.columns[:, first:], self.squared[:, first:])


def mean_distance(neighbors: Neighbors) -> float:
    """The bandwidth σ: mean distance between rows and their r nearest landmarks."""
    # numpy's mean uses one thread: torch's would depend on how many there are.
    return float(neighbors.squared.sqrt().cpu().numpy().mean())


def landmark_affinity(
    neighbors: Neighbors, bandwidth: float, n_landmarks: int
) -> Affinity:
    """Eq. 4: the Gaussian kernel exp(-d² / 2σ²) over its sum on the r nearest.

    Weights below a millionth of the row's largest are zero.
    """
    scale = 2 * bandwidth**2 if bandwidth > 0 else 1.0
    exponents = -neighbors.squared / scale
    least = exponents.amax(dim=1, keepdim=True) + math.log(_SMALLEST_TIE)
    # A softmax is Eq. 4 written so that far rows cannot underflow to 0 / 0.
    weights = torch.softmax(exponents.masked_fill(exponents < least, -math.inf), dim=1)
    return Affinity(neighbors.columns, weights, n_landmarks)


def inverse_root(column_sums: torch.Tensor) -> torch.Tensor:
    """Σ^(-1/2) as a vector; a landmark nobody is near to gets weight zero."""
    return torch.where(column_sums > 0, column_sums.rsqrt(), 0)


def fuse(
    affinities: Sequence[Affinity], column_scales: Sequence[torch.Tensor]
) -> FusedAffinity:
    """Z̄ = [Ẑ_1 | … | Ẑ_m] / √m with Ẑ = Z Σ^(-1/2) (Eq. 8), of shape (n, Σp)."""
    share = len(affinities) ** -0.5
    return FusedAffinity(
        tuple(
            affinity.scaled(share * scale)
            for affinity, scale in zip(affinities, column_scales, strict=True)
        )
    )


def unfuse(
    fused: FusedAffinity, column_scales: Sequence[torch.Tensor]
) -> Iterator[Affinity]:
    """The affinities behind Z̄, one at a time and up to rounding.

    They need not be kept beside the fused one. Columns of scale zero stay zero.
    """
    share = len(fused.parts) ** -0.5
    for part, scale in zip(fused.parts, column_scales, strict=True):
        yield part.scaled(torch.where(scale > 0, 1 / (share * scale), 0))
