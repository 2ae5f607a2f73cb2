"""anchor, second half, and fuse: the sparse affinity of rows to landmarks.

An affinity has exactly r entries a row, and a fused one m·r, so it is kept as two
tensors, column numbers and weights: they live on a GPU as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch

from scedae.spectral.distances import nearest, squared_distances


@dataclass(frozen=True)
class Affinity:
    """A sparse matrix of shape (n, p) with equally many entries in every row."""

    columns: torch.Tensor  # (n, r) long
    weights: torch.Tensor  # (n, r) float64
    n_landmarks: int

    def column_sums(self) -> torch.Tensor:
        """Diagonal of Σ = diag(Zᵀ1), of shape (p,); the same in every run."""
        sums = self.weights.new_zeros(self.n_landmarks)
        columns, weights = self.columns.flatten(), self.weights.flatten()
        if sums.device.type == "cpu":
            return sums.index_add_(0, columns, weights)
        return sums.index_put_((columns,), weights, accumulate=True)

    def times(self, matrix: torch.Tensor) -> torch.Tensor:
        """Product with a (p, q) matrix; each row by itself."""
        return torch.nn.functional.embedding_bag(
            self.columns, matrix, per_sample_weights=self.weights, mode="sum"
        )

    def to_scipy(self) -> sp.csr_matrix:
        columns, weights = self.columns.int().cpu(), self.weights.cpu()
        starts = np.arange(len(columns) + 1) * columns.shape[1]
        return sp.csr_matrix(
            (weights.numpy().ravel(), columns.numpy().ravel(), starts),
            shape=(len(columns), self.n_landmarks),
        )


@dataclass(frozen=True)
class Neighbors:
    """The r nearest landmarks of each row, and the squared distances to them."""

    columns: torch.Tensor  # (n, r) long
    squared: torch.Tensor  # (n, r) float64


def nearest_landmarks(
    rows: torch.Tensor, landmarks: torch.Tensor, n_neighbors: int
) -> Neighbors:
    """N(i) of Eq. 4, for a block of encoded rows."""
    columns = nearest(rows, landmarks, n_neighbors)
    return Neighbors(columns, squared_distances(rows, landmarks, columns))


def mean_distance(neighbors: Neighbors) -> float:
    """The bandwidth σ: mean distance between rows and their r nearest landmarks."""
    # numpy's mean uses one thread: torch's would depend on how many there are.
    return float(neighbors.squared.sqrt().cpu().numpy().mean())


def landmark_affinity(
    neighbors: Neighbors, bandwidth: float, n_landmarks: int
) -> Affinity:
    """Eq. 4: the Gaussian kernel exp(-d² / 2σ²) over its sum on the r nearest."""
    scale = 2 * bandwidth**2 if bandwidth > 0 else 1.0
    # A softmax is Eq. 4 written so that far rows cannot underflow to 0 / 0.
    weights = torch.softmax(-neighbors.squared / scale, dim=1)
    return Affinity(neighbors.columns, weights, n_landmarks)


def inverse_root(column_sums: torch.Tensor) -> torch.Tensor:
    """Σ^(-1/2) as a vector; a landmark nobody is near to gets weight zero."""
    return torch.where(column_sums > 0, column_sums.rsqrt(), 0)


def fuse(
    affinities: Sequence[Affinity], column_scales: Sequence[torch.Tensor]
) -> Affinity:
    """Z̄ = [Ẑ_1 | … | Ẑ_m] / √m with Ẑ = Z Σ^(-1/2) (Eq. 8), of shape (n, Σp)."""
    offsets = np.cumsum([0, *(a.n_landmarks for a in affinities)])
    columns = [
        a.columns + int(offset) for a, offset in zip(affinities, offsets, strict=False)
    ]
    weights = [
        a.weights * scale[a.columns]
        for a, scale in zip(affinities, column_scales, strict=True)
    ]
    fused = torch.cat(weights, dim=1).div_(len(affinities) ** 0.5)
    return Affinity(torch.cat(columns, dim=1), fused, int(offsets[-1]))
