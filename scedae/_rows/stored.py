"""Rows in a file that may be larger than memory: one block of it at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
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
from scedae._threads import n_threads, share_out
from scedae.exceptions import BlockReadError

# A disk behind a network may fail for a moment: seconds to wait before trying again.
_PAUSES = (0.1, 1.0)

# Blocks that are worked on at a time, and as many are read meanwhile: 32 MB each.
_MOST_AT_A_TIME = 16


class StoredRows(Stream):
    """A table on disk. Reading goes on while the block before is worked on."""

    def __init__(self, table: RowTable, device: torch.device) -> None:
        super().__init__(table.shape, table.dtype, table.names, device)
        self.table = table

    def total(
        self,
        kernel: TotalKernel[Any],
        add: Add[Any],
        tick: Tick = ignore,
        runs: Sequence[slice] | None = None,
    ) -> Any:
        return reduce(add, self._mapped(kernel, tick, runs))

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
            for found in self._mapped(kernel, tick):
                for file, part in zip(files, found, strict=True):
                    file.write(part.cpu().numpy())
        return tuple(file.array for file in files)

    def read(self, runs: Sequence[slice]) -> torch.Tensor:
        parts = [self._read(run.start, run.stop) for run in runs]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def n_distinct(self, labels: Any) -> int:
        parts = range(0, self.n_rows, 1 << 20)
        return len(set().union(*(np.unique(labels[i : i + (1 << 20)]) for i in parts)))

    def _mapped(
        self,
        kernel: Callable[[torch.Tensor], Any],
        tick: Tick,
        runs: Sequence[slice] | None = None,
    ) -> Iterator[Any]:
        """What the kernel makes of blocks, in their order.

        As many blocks at a time as there are threads, each by one of them: inside of
        a block there is always something that cannot be shared.
        """
        parts = self._rows_of_blocks(runs)
        n_rows = sum(run.stop - run.start for part in parts for run in part)
        at_a_time = 1
        if self.home.type == "cpu":
            at_a_time = min(n_threads(), _MOST_AT_A_TIME)
        with ThreadPoolExecutor(1, "scedae-rows") as pool:
            # Those that come next are read while the ones before are worked on.
            firsts = range(0, len(parts), at_a_time)
            groups = [parts[i : i + at_a_time] for i in firsts]
            coming = [pool.submit(self.read, part) for part in groups[0]]
            for following in (*groups[1:], []):
                blocks = [block.result() for block in coming]
                coming = [pool.submit(self.read, part) for part in following]
                heights = [len(block) for block in blocks]
                yield from share_out(kernel, blocks)
                for height in heights:
                    tick(height / n_rows)

    def _rows_of_blocks(self, runs: Sequence[slice] | None) -> list[list[slice]]:
        """Rows of each block: all of them, or those of some runs joined to blocks."""
        height = block_height(self.n_columns)
        if runs is None:
            starts = range(0, self.n_rows, height)
            return [[slice(i, min(i + height, self.n_rows))] for i in starts]
        n_runs = max(height // (runs[0].stop - runs[0].start), 1)
        return [list(runs[i : i + n_runs]) for i in range(0, len(runs), n_runs)]

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
