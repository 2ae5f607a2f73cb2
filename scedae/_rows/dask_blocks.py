"""What Dask's tasks do with a block, wherever it lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import torch

from scedae._plain_torch import plain_torch
from scedae._rows.interface import Add, EachKernel, TotalKernel
from scedae._rows.numbers import checked_tensor
from scedae._rows.stream import block_height
from scedae._threads import one_thread


def _parts(
    block: Any, first_row: int, names: Sequence[str] | None
) -> Iterator[torch.Tensor]:
    """A block as tensors of the height that kernels like; it may be far taller."""
    block = np.asarray(block)
    height = block_height(block.shape[1])
    for start in range(0, len(block), height):
        part = block[start : start + height]
        yield checked_tensor(part, first_row + start, names)


def block_total(
    block: Any,
    first_row: int,
    names: Sequence[str] | None,
    kernel: TotalKernel[Any],
    add: Add[Any],
) -> Any:
    return reduce(add, map(kernel, _parts(block, first_row, names)))


def block_lines(
    block: Any, first_row: int, names: Sequence[str] | None, kernel: EachKernel
) -> tuple[np.ndarray, ...]:
    parts = [kernel(part) for part in _parts(block, first_row, names)]
    return tuple(
        np.concatenate([part.cpu().numpy() for part in result])
        for result in zip(*parts, strict=True)
    )


def block_runs(
    block: Any, first_row: int, names: Sequence[str] | None, runs: Sequence[slice]
) -> torch.Tensor:
    """The rows of a block that some runs name, by their numbers among all rows."""
    block = np.asarray(block)
    parts = []
    for run in runs:
        start, stop = max(run.start - first_row, 0), run.stop - first_row
        if start < len(block) and stop > 0:
            parts.append(checked_tensor(block[start:stop], first_row + start, names))
    return torch.cat(parts)


def run_total(
    block: Any,
    first_row: int,
    names: Sequence[str] | None,
    runs: Sequence[slice],
    kernel: TotalKernel[Any],
    add: Add[Any],
) -> Any:
    """As ``block_total``, of the rows that some runs name."""
    rows = block_runs(block, first_row, names, runs)
    return reduce(add, map(kernel, rows.split(block_height(rows.shape[1]))))


def block_height_of(block: Any, first_row: int, names: Sequence[str] | None) -> int:
    return len(block)


def apply(block: Any, first: np.ndarray, *, work: Any, **named: Any) -> Any:
    """What the work makes of a block whose first row has this number."""
    with plain_torch(), one_thread():
        return work(block, int(first[0, 0]), **named)


def sum_up(parts: Sequence[Any], add: Add[Any]) -> Any:
    return reduce(add, parts)
