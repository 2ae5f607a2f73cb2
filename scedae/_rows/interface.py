"""What is asked of rows, wherever they live: in memory, in a file, on a Dask cluster.

After training, everything is local to a row or a sum over rows. So a pass either maps
blocks to results of one line a row, or maps them to numbers that are added up. The
three kinds of rows differ in how they walk, not in the kernels they are given. What is
learnt is learnt from a sample; of rows in memory that is all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch

if TYPE_CHECKING:
    from scedae._rows.joining import ViewRows
    from scedae._rows.memory import AtHand

Total = TypeVar("Total")

# Maps a block of raw rows (n, d) to a part of a sum, or to arrays of n lines each.
TotalKernel = Callable[[torch.Tensor], Total]
EachKernel = Callable[[torch.Tensor], tuple[torch.Tensor, ...]]
Add = Callable[[Total, Total], Total]
# Told, after each block, which share of the rows it was.
Tick = Callable[[float], None]


def ignore(share: float) -> None:
    """The tick of passes that nobody watches."""


@dataclass(frozen=True)
class Result:
    """One array of a pass: a line for each row, of this type and width."""

    dtype: type[np.generic]
    width: int | None = None  # None: one number a row

    def shape(self, n_rows: int) -> tuple[int, ...]:
        return (n_rows,) if self.width is None else (n_rows, self.width)


class Crew(Protocol):
    """Somebody else's processes, perhaps on other machines, that can train."""

    def __len__(self) -> int: ...

    def call(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        done: Callable[[int, Any], None],
    ) -> None:
        """``function(item, should_stop)`` for each item, somewhere.

        ``done`` is told the number of an item and its result, as they come. A call
        whose worker dies is made again. When something fails here, the calls that
        are under way are told to stop.
        """


class Rows(ABC):
    """Rows of ``n_columns`` numbers each, somewhere."""

    n_rows: int
    n_columns: int
    dtype: torch.dtype  # wide enough for the numbers until they are scaled
    device: torch.device | str  # a name is looked up by whoever does the work
    rows_per_epoch: int  # rows that an epoch of training draws
    all_at_hand: bool  # whether the sample is all rows
    views: tuple[ViewRows, ...] = ()  # that stand side by side; none of one matrix

    @abstractmethod
    def total(
        self,
        kernel: TotalKernel[Any],
        add: Add[Any],
        tick: Tick = ignore,
        runs: Sequence[slice] | None = None,
    ) -> Any:
        """The sum of what the kernel makes of blocks, always in the same order.

        Of all rows, or of those that some ``runs`` name.
        """

    def runs_to_sum(self, seed: int) -> Sequence[slice] | None:
        """Rows that are enough for sums over many; None: all of them."""
        return None

    @abstractmethod
    def each(
        self,
        kernel: EachKernel,
        results: Sequence[Result],
        *,
        out: Path | None = None,
        tick: Tick = ignore,
    ) -> tuple[Any, ...]:
        """What the kernel makes of each row; the first result goes to ``out``."""

    @abstractmethod
    def sample(self, seed: int) -> AtHand:
        """Rows to learn landmarks and centres from; the seed says which."""

    def crew(self) -> Crew | None:
        """Workers that can train; None: training happens here."""
        return None

    @abstractmethod
    def read(self, runs: Sequence[slice]) -> torch.Tensor:
        """Runs of rows on the host, one after the other."""

    @abstractmethod
    def n_distinct(self, labels: Any) -> int:
        """How many different numbers a result of ``each`` has."""

    @property
    def home(self) -> torch.device:
        """Where the part of the work is done that this process does."""
        return torch.device(self.device)

    def brought(self) -> Rows:
        """The same rows, where their device reaches them without a detour."""
        return self

    def keep(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Results of ``each`` that are there from now on; lazy ones are computed."""
        return arrays
