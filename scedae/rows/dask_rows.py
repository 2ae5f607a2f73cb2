"""Rows of a Dask array or DataFrame: blocks are worked on where they lie.

This package's only acquaintance with Dask. With a ``dask.distributed`` client the work
goes to its workers, without one to threads of this process. Kernels travel to the
blocks; sums come back as a tree of fixed shape, so that they do not depend on who was
faster, nor on a worker that died on the way.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import dask.array as da
import dask.config
import numpy as np
import torch
from dask.base import compute, persist
from dask.delayed import delayed
from distributed import Event, as_completed, get_client

from scedae.exceptions import BlockReadError, ScedaeError
from scedae.rows.numbers import checked_tensor
from scedae.rows.passes import Add, EachKernel, Tick, TotalKernel, ignore
from scedae.rows.stream import Result, Stream, block_height

# Sums that are added up by one task.
_BRANCHES = 8
# Attempts after the first: at reading a block, and at a call whose worker died.
_RETRIES = 2

# Models are part of the tasks, so that no worker's death can lose them; Dask would
# warn that they are large.
_QUIET = {"distributed.admin.large-graph-warning-threshold": "10GB"}


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
        X = X.compute_chunk_sizes()
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: there is nothing in it.")
    return DaskRows(X.rechunk({1: -1}), names, device)


class DaskRows(Stream):
    """A Dask array of shape (n, d), cut along its rows."""

    def __init__(
        self, array: da.Array, names: Sequence[str] | None, device: str
    ) -> None:
        super().__init__(array.shape, array.dtype, names, device)
        self._array = array
        ends = np.cumsum([0, *array.chunks[0]])
        self._starts = [int(start) for start in ends[:-1]]

    def crew(self) -> DaskCrew | None:
        client = _client()
        return None if client is None else DaskCrew(client)

    def total(
        self, kernel: TotalKernel[Any], add: Add[Any], tick: Tick = ignore
    ) -> Any:
        kernel = delayed(kernel, traverse=False)
        part_of = delayed(_block_total)
        parts = [
            part_of(block, start, self.names, kernel, add)
            for block, start in self._blocks()
        ]
        sum_of = delayed(_sum)
        while len(parts) > 1:
            branches = range(0, len(parts), _BRANCHES)
            parts = [sum_of(parts[i : i + _BRANCHES], add) for i in branches]
        (result,) = self._compute(parts[0])
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
        kernel = delayed(kernel, traverse=False)
        lines_of = delayed(_block_lines, nout=len(results))
        parts = [
            lines_of(block, start, self.names, kernel)
            for block, start in self._blocks()
        ]
        return tuple(
            da.concatenate(
                [
                    da.from_delayed(part[i], result.shape(height), dtype=result.dtype)
                    for part, height in zip(parts, self._array.chunks[0], strict=True)
                ]
            )
            for i, result in enumerate(results)
        )

    def read(self, runs: Sequence[slice]) -> torch.Tensor:
        # By block and not by run: each block is read once, however many it has.
        taken_of = delayed(_block_runs)
        parts = []
        for (block, start), height in zip(
            self._blocks(), self._array.chunks[0], strict=True
        ):
            stop = start + height
            inside = [
                slice(max(run.start, start), min(run.stop, stop))
                for run in runs
                if run.start < stop and run.stop > start
            ]
            if inside:
                parts.append(taken_of(block, start, self.names, inside))
        return torch.cat(self._compute(*parts))

    def keep(self, arrays: tuple[da.Array, ...]) -> tuple[da.Array, ...]:
        """Compute now, and leave the results where the blocks lie."""
        with dask.config.set(_QUIET):
            return persist(*arrays, **_options())

    def n_distinct(self, labels: da.Array) -> int:
        blocks = [delayed(np.unique)(b) for b in labels.to_delayed().ravel()]
        return len(set().union(*self._compute(*blocks)))

    def _blocks(self) -> Iterator[tuple[Any, int]]:
        blocks = self._array.to_delayed()[:, 0]
        return zip(blocks, self._starts, strict=True)

    def _compute(self, *tasks: Any) -> tuple[Any, ...]:
        with dask.config.set(_QUIET):
            try:
                return compute(*tasks, **_options())
            except (ScedaeError, ValueError):
                raise  # said with its place already
            except Exception as error:
                self._blame_a_block(error)
                raise

    def _blame_a_block(self, error: Exception) -> None:
        """Name the block that cannot be read, if one is to blame: reads all again."""
        for number, (block, start) in enumerate(self._blocks()):
            try:
                compute(delayed(_height)(block), **_options())
            except Exception as cause:
                stop = start + self._array.chunks[0][number] - 1
                raise BlockReadError(
                    f"rows {start} to {stop} of X (block {number} of the Dask "
                    f"collection) cannot be read, after {_RETRIES + 1} attempts: "
                    f"{cause}"
                ) from error


def _parts(
    block: Any, first_row: int, names: Sequence[str] | None
) -> Iterator[torch.Tensor]:
    """A block as tensors of the height that kernels like; it may be far taller."""
    block = np.asarray(block)
    height = block_height(block.shape[1])
    for start in range(0, len(block), height):
        part = block[start : start + height]
        yield checked_tensor(part, first_row + start, names)


@torch.no_grad()
def _block_total(
    block: Any,
    first_row: int,
    names: Sequence[str] | None,
    kernel: TotalKernel[Any],
    add: Add[Any],
) -> Any:
    return reduce(add, map(kernel, _parts(block, first_row, names)))


@torch.no_grad()
def _block_lines(
    block: Any, first_row: int, names: Sequence[str] | None, kernel: EachKernel
) -> tuple[np.ndarray, ...]:
    parts = [kernel(part) for part in _parts(block, first_row, names)]
    return tuple(
        np.concatenate([part.cpu().numpy() for part in result])
        for result in zip(*parts, strict=True)
    )


def _block_runs(
    block: Any, first_row: int, names: Sequence[str] | None, runs: Sequence[slice]
) -> torch.Tensor:
    """The rows of a block that some runs name, by their numbers among all rows."""
    block = np.asarray(block)
    taken = [block[run.start - first_row : run.stop - first_row] for run in runs]
    rows = zip(taken, runs, strict=True)
    return torch.cat([checked_tensor(part, run.start, names) for part, run in rows])


def _sum(parts: Sequence[Any], add: Add[Any]) -> Any:
    return reduce(add, parts)


def _height(block: Any) -> int:
    return len(block)


def _client() -> Any:
    """The client whose workers Dask would use now, also inside a worker."""
    try:
        return get_client()
    except ValueError:
        return None


def _options() -> dict[str, Any]:
    return {} if _client() is None else {"retries": _RETRIES}


class DaskCrew:
    """The workers of a client; see ``Crew``."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __len__(self) -> int:
        return max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)

    def call(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        done: Callable[[int, Any], None],
    ) -> None:
        name = f"scedae-stop-{uuid.uuid4()}"
        with self._telling_to_stop(Event(name, self._client)), dask.config.set(_QUIET):
            futures = self._client.map(
                _called,
                items,
                function=function,
                stop=name,
                retries=_RETRIES,
                pure=False,
            )
            numbers = {future: number for number, future in enumerate(futures)}
            for future in as_completed(futures):
                done(numbers[future], future.result())

    @contextmanager
    def _telling_to_stop(self, event: Any) -> Iterator[None]:
        event.clear()
        try:
            yield
        except BaseException:
            event.set()
            raise


def _called(item: Any, *, function: Callable[..., Any], stop: str) -> Any:
    return function(item, Event(stop).is_set)
