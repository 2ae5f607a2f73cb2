"""Rows in a file that may be larger than memory: one block of it at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scedae._rows.files import RowTable
from scedae._rows.interface import Add, EachKernel, Result, Tick, TotalKernel, ignore
from scedae._rows.numbers import checked_tensor
from scedae._rows.results import ResultFile
from scedae._rows.stream import Stream, block_height
from scedae.exceptions import BlockReadError

# A disk behind a network may fail for a moment: seconds to wait before trying again.
_PAUSES = (0.1, 1.0)


class StoredRows(Stream):
    """A table on disk. Reading goes on while the block before is worked on."""

    def __init__(self, table: RowTable, device: torch.device) -> None:
        super().__init__(table.shape, table.dtype, table.names, device)
        self.table = table

    def total(
        self, kernel: TotalKernel[Any], add: Add[Any], tick: Tick = ignore
    ) -> Any:
        return reduce(add, map(kernel, self._blocks(tick)))

    def each(
        self,
        kernel: EachKernel,
        results: Sequence[Result],
        *,
        out: Path | None = None,
        tick: Tick = ignore,
    ) -> tuple[np.ndarray, ...]:
        paths = [out, *(None for _ in results[1:])]
        with ExitStack() as stack:
            files = [
                stack.enter_context(ResultFile(result, self.n_rows, path))
                for result, path in zip(results, paths, strict=True)
            ]
            for block in self._blocks(tick):
                for file, part in zip(files, kernel(block), strict=True):
                    file.write(part.cpu().numpy())
        return tuple(file.array for file in files)

    def read(self, runs: Sequence[slice]) -> torch.Tensor:
        return torch.cat([self._read(run.start, run.stop) for run in runs])

    def n_distinct(self, labels: Any) -> int:
        parts = range(0, self.n_rows, 1 << 20)
        return len(set().union(*(np.unique(labels[i : i + (1 << 20)]) for i in parts)))

    def _blocks(self, tick: Tick) -> Iterator[torch.Tensor]:
        """All rows in their order; the next block is read by another thread."""
        height = block_height(self.n_columns)
        starts = range(0, self.n_rows, height)
        with ThreadPoolExecutor(1, "scedae-rows") as pool:
            coming = pool.submit(self._read, 0, min(height, self.n_rows))
            for start in starts:
                block = coming.result()
                following = start + height
                if following < self.n_rows:
                    stop = min(following + height, self.n_rows)
                    coming = pool.submit(self._read, following, stop)
                yield block
                tick(len(block) / self.n_rows)

    def _read(self, start: int, stop: int) -> torch.Tensor:
        """Rows of the file, at the second or third attempt if need be."""
        for pause in (*_PAUSES, None):
            try:
                part = self.table.read(start, stop)
            except MemoryError:
                raise
            except Exception as error:
                if pause is None:
                    raise BlockReadError(
                        f"rows {start} to {stop - 1} of {self.table.place} cannot be "
                        f"read, after {len(_PAUSES) + 1} attempts: {error}. Is the "
                        "file complete, and the disk there?"
                    ) from error
                time.sleep(pause)
            else:
                break
        return checked_tensor(part, start, self.names)
