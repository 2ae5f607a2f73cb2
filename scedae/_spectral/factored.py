"""Z̄ᵀZ̄ that is never formed: its products go through Z̄, which has fewer entries.

Where rows are fewer than landmarks it is Z̄Z̄ᵀ in place of Z̄ᵀZ̄: a smaller matrix with
the same eigenvalues, whose eigenvectors lead to those of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from scedae._spectral.affinity import FusedAffinity
from scedae._spectral.gram import (
    SparseGram,
    Symmetric,
    as_csr,
)
from scedae._threads import share_out

# Beyond so many rows and columns, vectors are multiplied in blocks on the host as well.
# Where landmarks are over half as many as rows, beyond fewer: such a graph has
# near-separate parts, which keep ARPACK busy.
_LARGE, _LARGE_OF_ROWS = 20_000, 4000
# Rows of a factor that one thread multiplies in one go.
_SLICE = 1 << 13


class FactoredGram:
    """On the host, for affinities that lie in memory as a whole."""

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


class FactoredInBlocks(FactoredGram):
    """The same of many rows and landmarks, for blocks of vectors in single precision.

    Threads share the rows of each product; each row is a sum of its own.
    """

    device = torch.device("cpu")

    def __init__(self, affinity: FusedAffinity) -> None:
        super().__init__(affinity)
        self._slices = _slices(self._factor), _slices(self._factor.T.tocsr())

    def there(self, vectors: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(vectors.astype(np.float32))

    def times_block(self, vectors: torch.Tensor) -> torch.Tensor:
        first, second = self._slices
        return _product(second, _product(first, vectors))


@dataclass(frozen=True)
class _Slice:
    """Some rows of a sparse matrix."""

    rows: slice
    columns: torch.Tensor  # of the entries, row after row
    starts: torch.Tensor  # where each row begins among them
    weights: torch.Tensor

    def times(self, vectors: torch.Tensor) -> torch.Tensor:
        # Takes a third of the time of scipy's product.
        return torch.nn.functional.embedding_bag(
            self.columns,
            vectors,
            self.starts,
            per_sample_weights=self.weights,
            mode="sum",
        )


def _slices(matrix: sp.csr_matrix) -> list[_Slice]:
    found = []
    for start in range(0, matrix.shape[0], _SLICE):
        rows = slice(start, start + _SLICE)
        part = matrix[rows]
        arrays = part.indices, part.indptr[:-1], part.data.astype(np.float32)
        found.append(_Slice(rows, *map(torch.from_numpy, arrays)))
    return found


def _product(slices: list[_Slice], vectors: torch.Tensor) -> torch.Tensor:
    height = slices[-1].rows.start + len(slices[-1].starts)
    found = vectors.new_empty(height, vectors.shape[1])

    def fill(part: _Slice) -> None:
        found[part.rows] = part.times(vectors)

    share_out(fill, slices)
    return found


class FactoredOnDevice:
    """The same on a GPU: blocks of vectors are multiplied where the affinity lies.

    Every sum has its own thread and its own order, so results do not depend on which
    thread comes first.
    """

    def __init__(self, affinity: FusedAffinity) -> None:
        self._affinity = affinity
        self._of_rows = 0 < affinity.n_rows < affinity.n_landmarks
        self.size = affinity.n_rows if self._of_rows else affinity.n_landmarks
        columns, weights = affinity.entries()
        self._columns, self._weights = columns.long(), weights
        # Entries by column, for products with Z̄ᵀ.
        order = self._columns.flatten().argsort(stable=True)
        self._rows_of_column = order // columns.shape[1]
        self._weights_of_column = weights.flatten()[order]
        counts = torch.bincount(self._columns.flatten(), minlength=affinity.n_landmarks)
        self._starts = counts.cumsum(0) - counts

    @property
    def device(self) -> torch.device:
        return self._affinity.device

    def times_block(self, vectors: torch.Tensor) -> torch.Tensor:
        if self._of_rows:
            return self._affinity.times(self._transposed_times(vectors))
        return self._transposed_times(self._affinity.times(vectors))

    def _transposed_times(self, vectors: torch.Tensor) -> torch.Tensor:
        """Z̄ᵀ times vectors (n, b)."""
        return torch.nn.functional.embedding_bag(
            self._rows_of_column,
            vectors,
            self._starts,
            per_sample_weights=self._weights_of_column,
            mode="sum",
        )

    def times(self, vector: np.ndarray) -> np.ndarray:
        return self._at_host(self.times_block(self.there(vector[:, None])))[:, 0]

    def dense(self) -> np.ndarray:
        return self._at_host(self.times_block(self.there(np.eye(self.size))))

    def pieces(self) -> np.ndarray:
        """Each landmark takes the least number it is linked to, until all agree."""
        n_landmarks = self._affinity.n_landmarks
        absent = self._weights == 0
        numbers = torch.arange(n_landmarks, device=absent.device)
        while True:
            seen = numbers[self._columns].masked_fill(absent, n_landmarks)
            of_rows = seen.amin(1, keepdim=True)
            offered = of_rows.expand_as(seen).masked_fill(absent, n_landmarks)
            least = numbers.scatter_reduce(
                0, self._columns.flatten(), offered.flatten(), "amin"
            )
            least = least[least]  # what it points to knows more
            if torch.equal(least, numbers):
                found = of_rows[:, 0] if self._of_rows else numbers
                return np.unique(self._at_host(found), return_inverse=True)[1]
            numbers = least

    def from_landmarks(self, vector: np.ndarray) -> np.ndarray:
        if not self._of_rows:
            return vector
        product = self._affinity.times(self.there(vector[:, None]))
        return _unit(self._at_host(product))[:, 0]

    def to_landmarks(self, vectors: np.ndarray) -> np.ndarray:
        if not self._of_rows:
            return vectors
        return _unit(self._at_host(self._transposed_times(self.there(vectors))))

    def there(self, vectors: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(vectors)).to(self._weights)

    @staticmethod
    def _at_host(vectors: torch.Tensor) -> np.ndarray:
        return vectors.cpu().numpy()


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Columns of length one; those of length zero stay."""
    lengths = np.linalg.norm(vectors, axis=0)
    return vectors / np.where(lengths > 0, lengths, 1)


def gram_of(affinity: FusedAffinity) -> Symmetric:
    """Z̄ᵀZ̄ for an eigensolver, in the form whose products are cheapest."""
    if affinity.device.type == "cuda":
        return FactoredOnDevice(affinity)
    most = max(part.n_landmarks for part in affinity.parts)
    large = _LARGE_OF_ROWS if 2 * most > affinity.n_rows else _LARGE
    if min(affinity.n_rows, affinity.n_landmarks) > large:
        return FactoredInBlocks(affinity)
    if affinity.n_rows < affinity.n_landmarks:
        return FactoredGram(affinity)
    n_entries = sum(part.columns.numel() for part in affinity.parts)
    if 2 * n_entries > affinity.n_landmarks**2:  # many rows, few landmarks
        return SparseGram.of(affinity)
    return FactoredGram(affinity)
