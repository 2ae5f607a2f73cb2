"""Rows of a Dask array or DataFrame: blocks are worked on where they lie.

With a ``dask.distributed`` client the work
goes to its workers, without one to threads of this process. Kernels travel to the
blocks; sums come back as a tree of fixed shape, so that they do not depend on who was
faster, nor on a worker that died on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import dask.config
import numpy as np
import torch
from dask.base import compute, persist
from dask.delayed import delayed

from scedae._device import resolve_device
from scedae._rows.dask_blocks import (
    apply,
    block_height_of,
    block_lines,
    block_runs,
    block_total,
    run_total,
    sum_up,
)
from scedae._rows.dask_crew import (
    QUIET,
    RETRIES,
    DaskCrew,
    current_client,
    in_touch,
    options,
)
from scedae._rows.interface import Add, EachKernel, Result, Tick, TotalKernel, ignore
from scedae._rows.stream import Stream
from scedae.exceptions import BlockReadError, ScedaeError

# Sums that are added up by one task.
_BRANCHES = 8


def open_dask(X: Any, device: str) -> DaskRows:
    """Rows of a Dask collection, or one clear error."""
    names = None
    if hasattr(X, "to_dask_array"):
        names = [str(name) for name in X.columns]
        text = [str(n) for n, t in X.dtypes.items() if t.kind not in "buif"]
        if text:
            raise ValueError(
                f"X has columns that are not numeric: {', '.join(text)}. Drop them, "
                "or encode them as numbers first."
            )
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        raise TypeError(f"X is a {type(X).__name__}; pass a Dask array or DataFrame.")
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise ValueError(
            f"X has {X.ndim} dimensions of {X.dtype}; rows of numbers need two."
        )
    if np.isnan(X.shape[0]):
        with in_touch(current_client()):
            X = X.compute_chunk_sizes()
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: there is nothing in it.")
    heights = X.chunks[0]
    if 0 in heights:  # a filter leaves empty partitions: they hold no rows to ask about
        full = [X.blocks[i] for i, height in enumerate(heights) if height]
        X = da.concatenate(full)
    return DaskRows(X.rechunk({1: -1}), names, device)


def join_dask(parts: Sequence[Any]) -> DaskRows:
    """Views side by side, cut along their rows as the first one is."""
    arrays = [part.array.rechunk({0: parts[0].array.chunks[0]}) for part in parts]
    wide = da.concatenate(arrays, axis=1).rechunk({1: -1})
    return DaskRows(wide, None, parts[0].device)


class DaskRows(Stream):
    """A Dask array of shape (n, d), cut along its rows."""

    def __init__(
        self, array: da.Array, names: Sequence[str] | None, device: str
    ) -> None:
        super().__init__(array.shape, array.dtype, names, device)
        self.array = array
        ends = np.cumsum([0, *array.chunks[0]])
        self._starts = [int(start) for start in ends[:-1]]

    def crew(self) -> DaskCrew | None:
        client = current_client()
        return None if client is None else DaskCrew(client)

    @property
    def home(self) -> torch.device:
        # Where workers look up their device, this process needs none.
        return resolve_device("cpu" if self.crew() else self.device)

    def total(
        self,
        kernel: TotalKernel[Any],
        add: Add[Any],
        tick: Tick = ignore,
        runs: Sequence[slice] | None = None,
    ) -> Any:
        if runs is None:
            parts = self._mapped(block_total, kernel=_task(kernel), add=add)
        else:
            work = partial(run_total, runs=tuple(runs))
            parts = self._touched(runs, work, kernel=_task(kernel), add=add)
        sum_of = delayed(sum_up)
        while len(parts) > 1:
            branches = range(0, len(parts), _BRANCHES)
            parts = [sum_of(parts[i : i + _BRANCHES], add) for i in branches]
        (result,) = self._compute(parts)
        tick(1.0)
        return result

    def each(
        self,
        kernel: EachKernel,
        results: Sequence[Result],
        *,
        out: Path | None = None,
        tick: Tick = ignore,
    ) -> tuple[da.Array, ...]:
        if out is not None:
            raise ValueError(
                "the result for a Dask collection is lazy, so out cannot be written: "
                "leave it out, and store the result with dask.array.to_zarr or "
                "dask.array.to_npy_stack."
            )
        parts = self._mapped(block_lines, kernel=_task(kernel))
        heights = self.array.chunks[0]
        return tuple(
            da.concatenate(
                [
                    da.from_delayed(part[i], result.shape(height), dtype=result.dtype)
                    for part, height in zip(parts, heights, strict=True)
                ]
            )
            for i, result in enumerate(results)
        )

    def read(self, runs: Sequence[slice]) -> torch.Tensor:
        # One object to Dask, and with one name: trainings that draw the same rows at
        # the same time share the tasks.
        work = partial(block_runs, runs=tuple(runs))
        return torch.cat(self._compute(self._touched(runs, work)))

    def _touched(
        self, runs: Sequence[slice], work: Callable[..., Any], **named: Any
    ) -> list[Any]:
        """What some work makes of the blocks in which some runs have rows.

        By block and not by run: each block is read once, however many it has.
        """
        starts = np.array([run.start for run in runs])
        stops = np.array([run.stop for run in runs])
        return [
            part
            for part, first, height in zip(
                self._mapped(work, **named),
                self._starts,
                self.array.chunks[0],
                strict=True,
            )
            if ((starts < first + height) & (stops > first)).any()
        ]

    def keep(self, arrays: tuple[da.Array, ...]) -> tuple[da.Array, ...]:
        """Compute now, and leave the results where the blocks lie."""
        with in_touch(current_client()), dask.config.set(QUIET):
            return persist(*arrays, **options())

    def n_distinct(self, labels: da.Array) -> int:
        blocks = [delayed(np.unique)(b) for b in labels.to_delayed().ravel()]
        return len(set().union(*self._compute(blocks)))

    def _mapped(self, work: Callable[..., Any], **named: Any) -> list[Any]:
        """What some work makes of each block, in one task with reading the block.

        By ``map_blocks``, although these are no arrays, since Dask joins such tasks
        with what they read. A block that is a result of its own may be sent to
        another worker.
        """
        firsts = da.from_array(np.array(self._starts)[:, None], chunks=1)
        mapped = da.map_blocks(
            apply,
            self.array,
            firsts,
            work=work,
            names=self.names,
            **named,
            dtype=object,
            chunks=((1,) * len(self._starts), (1,)),
            meta=np.empty((0, 0), object),
        )
        return list(mapped.to_delayed()[:, 0])

    def _compute(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        with in_touch(current_client()), dask.config.set(QUIET):
            try:
                return compute(*parts, **options())
            except (ScedaeError, ValueError):
                raise  # said with its place already
            except CancelledError:
                raise  # no block is to blame
            except Exception as error:
                self._blame_a_block(error)
                raise

    def _blame_a_block(self, error: Exception) -> None:
        """Name the block that cannot be read, if one is to blame: reads all again."""
        for number, height in enumerate(self._mapped(block_height_of)):
            try:
                compute(height, **options())
            except Exception as cause:
                start = self._starts[number]
                stop = start + self.array.chunks[0][number] - 1
                raise BlockReadError(
                    f"rows {start} to {stop} of X (block {number} of the Dask "
                    f"collection) cannot be read, after {RETRIES + 1} attempts: "
                    f"{cause}"
                ) from error


def _task(kernel: Any) -> Any:
    """A kernel as a task that others depend on: each worker gets it once."""
    return delayed(kernel, traverse=False)
