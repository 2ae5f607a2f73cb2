"""Rows that lie in memory, on the host or on a GPU, never copied whole."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from scedae._rows.interface import (
    Add,
    EachKernel,
    Result,
    Rows,
    Tick,
    TotalKernel,
    ignore,
)
from scedae._rows.numbers import working_dtype
from scedae._rows.results import write_result

# Rows that take up to this share of a GPU's free memory are kept there.
_GPU_SHARE = 0.5

# Rows worked on at a time: at most this many, and fewer where they are wide.
_BLOCK_ROWS = 4096
_BLOCK_NUMBERS = 1 << 22

_HOST = torch.device("cpu")


class AtHand(Rows):
    """Rows in memory: the sample is everything, and a pass is a loop."""

    all_at_hand = True
    device: torch.device
    place: torch.device  # where they are, and where an index of them must be

    def __init__(
        self, shape: tuple[int, int], dtype: torch.dtype, device: torch.device
    ) -> None:
        self.n_rows, self.n_columns = shape
        self.rows_per_epoch = self.n_rows
        self.dtype, self.device = dtype, device

    @abstractmethod
    def block(self, start: int, stop: int) -> torch.Tensor:
        """Rows ``start`` to ``stop``, of shape (stop - start, n_columns)."""

    @abstractmethod
    def take(self, index: torch.Tensor, *, pinned: bool = False) -> torch.Tensor:
        """The rows with the given numbers, of shape (len(index), n_columns).

        ``pinned`` rows can travel to a GPU while both sides do something else.
        """

    def blocks(self) -> Iterator[torch.Tensor]:
        """All rows in their order, in blocks of a few megabytes."""
        height = min(max(_BLOCK_NUMBERS // max(self.n_columns, 1), 16), _BLOCK_ROWS)
        for start in range(0, self.n_rows, height):
            yield self.block(start, min(start + height, self.n_rows))

    def total(
        self,
        kernel: TotalKernel[Any],
        add: Add[Any],
        tick: Tick = ignore,
        runs: Sequence[slice] | None = None,
    ) -> Any:
        blocks = self.blocks()
        if runs is not None:
            blocks = (self.block(run.start, run.stop) for run in runs)
        return reduce(add, map(kernel, blocks))

    def each(
        self,
        kernel: EachKernel,
        results: Sequence[Result],
        *,
        out: Path | None = None,
        tick: Tick = ignore,
    ) -> tuple[np.ndarray, ...]:
        parts = zip(*map(kernel, self.blocks()), strict=True)
        arrays = [torch.cat(part).cpu().numpy() for part in parts]
        if out is not None:
            arrays[0] = write_result(arrays[0], out)
        return tuple(arrays)

    def sample(self, seed: int) -> AtHand:
        return self

    def read(self, runs: Sequence[slice]) -> torch.Tensor:
        return torch.cat([self.block(run.start, run.stop) for run in runs]).cpu()

    def n_distinct(self, labels: np.ndarray) -> int:
        return len(np.unique(labels))


class MemoryRows(AtHand):
    """A dense array or a scipy CSR matrix, handed out as dense tensors."""

    place = _HOST

    def __init__(
        self,
        X: np.ndarray | sp.csr_matrix | sp.csr_array,
        device: torch.device = _HOST,
    ) -> None:
        super().__init__(X.shape, working_dtype(X.dtype), device)
        self._X = X
        self._view = None if sp.issparse(X) else _view(X)

    def block(self, start: int, stop: int) -> torch.Tensor:
        if self._view is not None:
            return self._view[start:stop]
        return self._as_tensor(self._X[start:stop])

    def take(self, index: torch.Tensor, *, pinned: bool = False) -> torch.Tensor:
        if self._view is not None:
            shape = (len(index), self.n_columns)
            taken = torch.empty(shape, dtype=self._view.dtype, pin_memory=pinned)
            return torch.index_select(self._view, 0, index, out=taken)
        taken = self._as_tensor(self._X[index.numpy()])
        return taken.pin_memory() if pinned else taken

    def brought(self) -> AtHand:
        """On the GPU, if that is where the work is done.

        Sparse rows, and rows that would fill over half of the GPU, stay where they
        are and travel a batch at a time.
        """
        if self.home.type != "cuda" or sp.issparse(self._X):
            return self
        if self._X.nbytes > _GPU_SHARE * torch.cuda.mem_get_info(self.home)[0]:
            return self
        return TensorRows(torch.tensor(_plain(self._X)).to(self.home), self.dtype)

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


class TensorRows(AtHand):
    """A tensor on any device, kept in the type it came in."""

    def __init__(self, rows: torch.Tensor, dtype: torch.dtype) -> None:
        super().__init__((len(rows), rows.shape[1]), dtype, rows.device)
        self._rows, self.place = rows, rows.device

    def block(self, start: int, stop: int) -> torch.Tensor:
        return self._rows[start:stop]

    def take(self, index: torch.Tensor, *, pinned: bool = False) -> torch.Tensor:
        return self._rows.index_select(0, index)
