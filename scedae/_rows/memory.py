"""Rows that lie in memory, on the host or on a GPU, never copied whole."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from scedae._rows.numbers import working_dtype

# Rows that take up to this share of a GPU's free memory are kept there.
_GPU_SHARE = 0.5


class MemoryRows:
    """A dense array or a scipy CSR matrix, handed out as dense tensors."""

    def __init__(self, X: np.ndarray | sp.csr_matrix | sp.csr_array) -> None:
        self._X = X
        self._view = None if sp.issparse(X) else _view(X)
        self.n_rows, self.n_columns = X.shape
        self.rows_per_epoch = self.n_rows
        self.device = torch.device("cpu")
        self.dtype = working_dtype(X.dtype)

    def block(self, start: int, stop: int) -> torch.Tensor:
        """Rows ``start`` to ``stop``, of shape (stop - start, n_columns)."""
        if self._view is not None:
            return self._view[start:stop]
        return self._as_tensor(self._X[start:stop])

    def take(self, index: torch.Tensor, *, pinned: bool = False) -> torch.Tensor:
        """The rows with the given numbers, of shape (len(index), n_columns).

        ``pinned`` rows can travel to a GPU while both sides do something else.
        """
        if self._view is not None:
            shape = (len(index), self.n_columns)
            taken = torch.empty(shape, dtype=self._view.dtype, pin_memory=pinned)
            return torch.index_select(self._view, 0, index, out=taken)
        taken = self._as_tensor(self._X[index.numpy()])
        return taken.pin_memory() if pinned else taken

    def to(self, device: torch.device) -> MemoryRows | TensorRows:
        """The same rows where ``device`` can reach them without a detour.

        Sparse rows, and rows that would fill over half of the GPU, stay where they
        are and travel a batch at a time.
        """
        if device.type != "cuda" or sp.issparse(self._X):
            return self
        if self._X.nbytes > _GPU_SHARE * torch.cuda.mem_get_info(device)[0]:
            return self
        return TensorRows(torch.tensor(_plain(self._X)).to(device), self.dtype)

    def _as_tensor(self, part: Any) -> torch.Tensor:
        dense = part.toarray() if sp.issparse(part) else part
        return torch.tensor(_plain(dense))


def _view(X: np.ndarray) -> torch.Tensor | None:
    """The array itself as a tensor, if torch can look at it."""
    if any(stride < 0 for stride in X.strides) or not X.dtype.isnative:
        return None
    with warnings.catch_warnings():
        # torch warns of arrays that cannot be written: nobody writes here.
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(X)


def _plain(array: np.ndarray) -> np.ndarray:
    """An array torch can copy: strides that are not negative, native byte order."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


class TensorRows:
    """The same contract for a tensor on any device, kept in the type it came in."""

    def __init__(self, rows: torch.Tensor, dtype: torch.dtype) -> None:
        self._rows = rows
        self.n_rows, self.n_columns = rows.shape
        self.rows_per_epoch = self.n_rows
        self.device = rows.device
        self.dtype = dtype

    def block(self, start: int, stop: int) -> torch.Tensor:
        return self._rows[start:stop]

    def take(self, index: torch.Tensor, *, pinned: bool = False) -> torch.Tensor:
        return self._rows.index_select(0, index)
