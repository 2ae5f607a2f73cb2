"""Z̄ᵀZ̄, the small matrix behind the singular vectors: sparse on a CPU, dense on a GPU.

It is a sum over rows and has only Σp rows and columns, so it serves rows in memory
and rows that never were there together.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from scedae._spectral.affinity import FusedAffinity

# Pairs of entries that are added up in one go.
_BLOCK_PAIRS = 1 << 25
# Up to so many landmarks of all members together, sums are gathered in tables that a
# CPU holds close, and each pair of members is looked at once.
_FEW_LANDMARKS = 2400
_PAIRED_ROWS = 1 << 14
# On a GPU the matrix may take this share of the free memory; else it goes to the CPU.
_MEMORY_SHARE = 0.25


class Symmetric(Protocol):
    """A symmetric matrix with what an eigensolver on the host asks of it."""

    size: int

    def dense(self) -> np.ndarray:
        """All of it, for small ones."""

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Product with a vector of shape (size,)."""

    def pieces(self) -> np.ndarray:
        """The connected piece each of its rows belongs to, of shape (size,)."""

    def from_landmarks(self, vector: np.ndarray) -> np.ndarray:
        """What a right singular vector of Z̄ is to this matrix."""

    def to_landmarks(self, vectors: np.ndarray) -> np.ndarray:
        """Eigenvectors (size, q) as right singular vectors of Z̄, (Σp, q)."""


@runtime_checkable
class OnDevice(Symmetric, Protocol):
    """One that multiplies blocks of vectors where it lies."""

    device: torch.device

    def there(self, vectors: np.ndarray) -> torch.Tensor:
        """Vectors on that device, in the precision of its products."""

    def times_block(self, vectors: torch.Tensor) -> torch.Tensor:
        """Product with vectors of shape (size, b) on that device."""


class OnLandmarks:
    """For those whose rows are the landmarks: both are the same."""

    def from_landmarks(self, vector: np.ndarray) -> np.ndarray:
        return vector

    def to_landmarks(self, vectors: np.ndarray) -> np.ndarray:
        return vectors


class Gram(Symmetric, Protocol):
    """One that is the sum of what blocks of rows add to it."""

    @property
    def nbytes(self) -> int: ...

    def __add__(self, other: Any) -> Gram:
        """The sum over the rows of both; the other may be of the other kind."""

    def scaled(self, factors: np.ndarray) -> Gram:
        """Rows and columns times the factors of their landmarks."""


def _block_rows(affinity: FusedAffinity) -> int:
    n_entries = sum(part.columns.shape[1] for part in affinity.parts)
    return max(_BLOCK_PAIRS // n_entries**2, 1)


def as_csr(columns: torch.Tensor, weights: torch.Tensor, size: int) -> sp.csr_matrix:
    """Entries (n, Σr) as a matrix of shape (n, size) on the host."""
    starts = np.arange(len(columns) + 1) * columns.shape[1]
    return sp.csr_matrix(
        (weights.cpu().numpy().ravel(), columns.cpu().numpy().ravel(), starts),
        shape=(len(columns), size),
    )


class SparseGram(OnLandmarks):
    """On the host, as CSR."""

    def __init__(self, matrix: sp.csr_matrix) -> None:
        self.size = matrix.shape[0]
        self._matrix = matrix

    @classmethod
    def of(cls, affinity: FusedAffinity) -> SparseGram:
        size = affinity.n_landmarks
        if size <= _FEW_LANDMARKS:
            return cls(sp.csr_matrix(_by_pairs(affinity)))
        matrix = sp.csr_matrix((size, size))
        for columns, weights in affinity.blocks(_block_rows(affinity)):
            rows = as_csr(columns, weights, size)
            matrix += (rows.T @ rows).tocsr()
        matrix.eliminate_zeros()  # what has no weight ties nothing
        return cls(matrix)

    @property
    def nbytes(self) -> int:
        parts = (self._matrix.data, self._matrix.indices, self._matrix.indptr)
        return sum(part.nbytes for part in parts)

    def __add__(self, other: Gram) -> Gram:
        if isinstance(other, SparseGram):
            return SparseGram(self._matrix + other._matrix)
        return other + self

    def scaled(self, factors: np.ndarray) -> SparseGram:
        diagonal = sp.diags(factors)
        return SparseGram((diagonal @ self._matrix @ diagonal).tocsr())

    def dense(self) -> np.ndarray:
        return self._matrix.toarray()

    def times(self, vector: np.ndarray) -> np.ndarray:
        return self._matrix @ vector

    def pieces(self) -> np.ndarray:
        return connected_components(self._matrix, directed=False)[1]


def _by_pairs(affinity: FusedAffinity) -> np.ndarray:
    """Z̄ᵀZ̄ as a dense matrix on the host, by sums for each pair of members.

    A third of the time of a sparse product, which does not know that rows have equally
    many entries, and that the matrix is symmetric.
    """
    parts = affinity.parts
    sizes = [part.n_landmarks for part in parts]
    ends = np.cumsum([0, *sizes])
    found = np.zeros((ends[-1], ends[-1]))
    for start in range(0, affinity.n_rows, _PAIRED_ROWS):
        rows = slice(start, start + _PAIRED_ROWS)
        columns = [part.columns[rows].long().cpu() for part in parts]
        weights = [part.weights[rows].cpu() for part in parts]
        for a, b in combinations_with_replacement(range(len(parts)), 2):
            cells = (columns[a] * sizes[b])[:, :, None] + columns[b][:, None, :]
            products = weights[a][:, :, None] * weights[b][:, None, :]
            n_cells = sizes[a] * sizes[b]
            sums = torch.bincount(cells.flatten(), products.flatten(), n_cells)
            table = found[ends[a] : ends[a + 1], ends[b] : ends[b + 1]]
            table += sums.view(sizes[a], sizes[b]).numpy()
    upper = np.triu(found)  # the part below repeats it, and has no pairs of two members
    return upper + np.triu(upper, 1).T


class DenseGram(OnLandmarks):
    """On a GPU, where a dense matrix is met faster than a sparse one."""

    def __init__(self, matrix: torch.Tensor) -> None:
        self.size = len(matrix)
        self._matrix = matrix

    @property
    def device(self) -> torch.device:
        return self._matrix.device

    @classmethod
    def of(cls, affinity: FusedAffinity) -> DenseGram:
        size = affinity.n_landmarks
        flat = affinity.parts[0].weights.new_zeros(size**2)
        for columns, weights in affinity.blocks(_block_rows(affinity)):
            columns = columns.long()
            places = columns[:, :, None] * size + columns[:, None, :]
            products = weights[:, :, None] * weights[:, None, :]
            # index_put_ sorts: the sums do not depend on which thread comes first.
            flat.index_put_((places.flatten(),), products.flatten(), accumulate=True)
        return cls(flat.view(size, size))

    @property
    def nbytes(self) -> int:
        return self._matrix.nbytes

    def __getstate__(self) -> dict[str, Any]:
        # Who receives it may have no GPU.
        return {"size": self.size, "_matrix": self._matrix.cpu()}

    def __add__(self, other: Gram) -> DenseGram:
        if isinstance(other, DenseGram):
            addend = other._matrix
        else:
            addend = torch.from_numpy(other.dense())
        return DenseGram(self._matrix + addend.to(self._matrix))

    def scaled(self, factors: np.ndarray) -> DenseGram:
        scale = torch.from_numpy(factors).to(self._matrix)
        return DenseGram(self._matrix * scale[:, None] * scale)

    def dense(self) -> np.ndarray:
        return self._matrix.cpu().numpy()

    def there(self, vectors: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(vectors).to(self._matrix)

    def times(self, vector: np.ndarray) -> np.ndarray:
        return torch.mv(self._matrix, self.there(vector)).cpu().numpy()

    def times_block(self, vectors: torch.Tensor) -> torch.Tensor:
        return self._matrix @ vectors

    def pieces(self) -> np.ndarray:
        """Each landmark takes the least number it is linked to, until all agree."""
        apart = self._matrix == 0
        numbers = torch.arange(self.size, dtype=torch.int32, device=apart.device)
        while True:
            least = numbers.expand_as(apart).masked_fill(apart, self.size).amin(1)
            least = torch.minimum(numbers, least)
            least = least[least]  # what it points to knows more
            if torch.equal(least, numbers):
                return numbers.cpu().numpy()
            numbers = least


def fits_on_device(affinity: FusedAffinity) -> bool:
    """Whether the affinity lies on a GPU with room for the dense matrix."""
    if affinity.device.type != "cuda":
        return False
    free, _ = torch.cuda.mem_get_info(affinity.device)
    return bool(8 * affinity.n_landmarks**2 <= _MEMORY_SHARE * free)


def gram_matrix(affinity: FusedAffinity) -> Gram:
    """Z̄ᵀZ̄ of shape (Σp, Σp), where the affinity lies if there is room."""
    kind = DenseGram if fits_on_device(affinity) else SparseGram
    return kind.of(affinity)
