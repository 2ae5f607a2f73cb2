"""Z̄ᵀZ̄ that is never formed: its products go through Z̄, which has fewer entries."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from scedae.spectral.affinity import FusedAffinity
from scedae.spectral.gram import (
    DenseGram,
    SparseGram,
    Symmetric,
    as_csr,
    fits_on_device,
)


class FactoredGram:
    """On the host, for affinities that lie in memory as a whole."""

    def __init__(self, affinity: FusedAffinity) -> None:
        self.size = affinity.n_landmarks
        self._factor = as_csr(*affinity.entries(), self.size)

    def dense(self) -> np.ndarray:
        return (self._factor.T @ self._factor).toarray()

    def times(self, vector: np.ndarray) -> np.ndarray:
        return self._factor.T @ (self._factor @ vector)

    def pieces(self) -> np.ndarray:
        # Rows and landmarks as one graph: two landmarks are linked through a row.
        ties = self._factor.tocoo()
        present = ties.data != 0
        n_rows = self._factor.shape[0]
        ends = ties.row[present], n_rows + ties.col[present]
        size = n_rows + self.size
        graph = sp.coo_matrix((ties.data[present], ends), shape=(size, size))
        return connected_components(graph, directed=False)[1][n_rows:]


def gram_of(affinity: FusedAffinity) -> Symmetric:
    """Z̄ᵀZ̄ for an eigensolver, in the form whose products are cheapest."""
    if fits_on_device(affinity):
        return DenseGram.of(affinity)
    n_entries = sum(part.columns.numel() for part in affinity.parts)
    if 2 * n_entries > affinity.n_landmarks**2:  # many rows, few landmarks
        return SparseGram.of(affinity)
    return FactoredGram(affinity)
