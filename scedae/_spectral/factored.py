"""Z̄ᵀZ̄ that is never formed: its products go through Z̄, which has fewer entries."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from scedae._spectral.affinity import FusedAffinity
from scedae._spectral.gram import (
    DenseGram,
    SparseGram,
    Symmetric,
    as_csr,
    fits_on_device,
)


class FactoredGram:
    """On the host, for affinities that lie in memory as a whole.

    Where rows are fewer than landmarks it is Z̄Z̄ᵀ in place of Z̄ᵀZ̄: a smaller matrix
    with the same eigenvalues, whose eigenvectors lead to those of the other.
    """

    def __init__(self, affinity: FusedAffinity) -> None:
        factor = as_csr(*affinity.entries(), affinity.n_landmarks)
        self._of_rows = 0 < factor.shape[0] < factor.shape[1]
        # The matrix is AᵀA, of A = Z̄ or of A = Z̄ᵀ.
        self._factor = factor.T.tocsr() if self._of_rows else factor
        self.size = self._factor.shape[1]

    def dense(self) -> np.ndarray:
        return (self._factor.T @ self._factor).toarray()

    def times(self, vector: np.ndarray) -> np.ndarray:
        return self._factor.T @ (self._factor @ vector)

    def pieces(self) -> np.ndarray:
        # Rows and landmarks as one graph: two of a kind are linked through the other.
        ties = self._factor.tocoo()
        present = ties.data != 0
        n_others = self._factor.shape[0]
        ends = ties.row[present], n_others + ties.col[present]
        size = n_others + self.size
        graph = sp.coo_matrix((ties.data[present], ends), shape=(size, size))
        return connected_components(graph, directed=False)[1][n_others:]

    def from_landmarks(self, vector: np.ndarray) -> np.ndarray:
        return _unit(self._factor.T @ vector) if self._of_rows else vector

    def to_landmarks(self, vectors: np.ndarray) -> np.ndarray:
        return _unit(self._factor @ vectors) if self._of_rows else vectors


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Columns of length one; those of length zero stay."""
    lengths = np.linalg.norm(vectors, axis=0)
    return vectors / np.where(lengths > 0, lengths, 1)


def gram_of(affinity: FusedAffinity) -> Symmetric:
    """Z̄ᵀZ̄ for an eigensolver, in the form whose products are cheapest."""
    if affinity.n_rows < affinity.n_landmarks:
        return FactoredGram(affinity)
    if fits_on_device(affinity):
        return DenseGram.of(affinity)
    n_entries = sum(part.columns.numel() for part in affinity.parts)
    if 2 * n_entries > affinity.n_landmarks**2:  # many rows, few landmarks
        return SparseGram.of(affinity)
    return FactoredGram(affinity)
