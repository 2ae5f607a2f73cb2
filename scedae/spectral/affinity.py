"""anchor, second half, and fuse: the sparse affinity of rows to landmarks.

An affinity has exactly r entries a row, so it is kept as two (n, r) tensors, column
numbers and weights, until the fused matrix goes to scipy as CSR.
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
    """A row-stochastic sparse matrix Z of shape (n, p) with r entries a row."""

    columns: torch.Tensor  # (n, r) long
    weights: torch.Tensor  # (n, r) float64, rows sum to one
    n_landmarks: int

    def column_sums(self) -> torch.Tensor:
        """Diagonal of Σ = diag(Zᵀ1), of shape (p,)."""
        sums = self.weights.new_zeros(self.n_landmarks)
        return sums.index_add_(0, self.columns.flatten(), self.weights.flatten())


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
) -> sp.csr_matrix:
    """Z̄ = [Ẑ_1 | … | Ẑ_m] / √m with Ẑ = Z Σ^(-1/2) (Eq. 8), of shape (n, Σp)."""
    offsets = np.cumsum([0, *(a.n_landmarks for a in affinities)])
    columns = [
        (a.columns + int(offset)).int()
        for a, offset in zip(affinities, offsets, strict=False)
    ]
    weights = [
        a.weights * scale[a.columns]
        for a, scale in zip(affinities, column_scales, strict=True)
    ]
    indices = torch.cat(columns, dim=1).cpu().numpy()  # (n, m·r)
    data = torch.cat(weights, dim=1).cpu().numpy() / np.sqrt(len(affinities))
    indptr = np.arange(len(indices) + 1) * indices.shape[1]
    shape = (len(indices), int(offsets[-1]))
    return sp.csr_matrix((data.ravel(), indices.ravel(), indptr), shape=shape)
