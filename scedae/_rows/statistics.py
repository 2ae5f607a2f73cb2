"""What the rules of scaling need to know of the rows, as sums over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import torch

from scedae._device import resolve_device
from scedae._rows.interface import Rows
from scedae._threads import share_out

# Rows whose squares are summed in one go: they stay in a CPU's cache, and fewer where
# they are wide, since several copies of them in double precision are made.
_HEIGHT = 4096
_NUMBERS = 1 << 18


@dataclass(frozen=True)
class Statistics:
    """Spread and kind of the values, by column and altogether."""

    minimum: torch.Tensor  # (d,)
    maximum: torch.Tensor  # (d,)
    mean: torch.Tensor  # (d,)
    variance: torch.Tensor  # (d,)
    zero_share: float
    positive_mean: float

    @property
    def constant(self) -> bool:
        """Whether all rows are equal."""
        return bool((self.minimum == self.maximum).all())

    @property
    def low(self) -> float:
        return float(self.minimum.min())

    @property
    def high(self) -> float:
        return float(self.maximum.max())

    @property
    def deviation(self) -> float:
        """Standard deviation of all entries taken together."""
        between = (self.mean - self.mean.mean()).square().mean()
        return float((self.variance.mean() + between).sqrt())


@dataclass(frozen=True)
class Moments:
    """The same as sums, which can be added."""

    count: int
    minimum: torch.Tensor  # (d,)
    maximum: torch.Tensor  # (d,)
    mean: torch.Tensor  # (d,)
    spread: torch.Tensor  # (d,) squared distances to the mean, summed
    zeros: int
    positives: int
    positive_sum: float

    @classmethod
    def of(cls, block: torch.Tensor) -> Moments:
        block = block.double()
        mean = block.mean(0)
        return cls(
            count=len(block),
            minimum=block.amin(0).cpu(),  # whoever adds them may have no GPU
            maximum=block.amax(0).cpu(),
            mean=mean.cpu(),
            spread=(block - mean).square_().sum(0).cpu(),
            zeros=int((block == 0).sum()),
            positives=int((block > 0).sum()),
            positive_sum=float(block.clamp(min=0).sum()),
        )

    def __add__(self, other: Moments) -> Moments:
        # Chan's update: sums of squares would cancel on columns with an offset.
        shift = other.mean - self.mean
        count = self.count + other.count
        between = shift.square() * self.count * other.count / count
        return Moments(
            count=count,
            minimum=torch.minimum(self.minimum, other.minimum),
            maximum=torch.maximum(self.maximum, other.maximum),
            mean=self.mean + shift * other.count / count,
            spread=self.spread + other.spread + between,
            zeros=self.zeros + other.zeros,
            positives=self.positives + other.positives,
            positive_sum=self.positive_sum + other.positive_sum,
        )

    def statistics(self) -> Statistics:
        return Statistics(
            minimum=self.minimum,
            maximum=self.maximum,
            mean=self.mean,
            variance=self.spread / self.count,
            zero_share=self.zeros / (self.count * len(self.mean)),
            positive_mean=self.positive_sum / max(self.positives, 1),
        )


def block_moments(device: torch.device | str, block: torch.Tensor) -> Moments:
    """Moments of a tall block; on a CPU a few rows at a time."""
    block = block.to(resolve_device(device))
    height = len(block)
    if block.is_cpu:
        height = min(max(_NUMBERS // max(block.shape[1], 1), 16), _HEIGHT)
    parts = block.split(height)
    found = share_out(Moments.of, parts) if block.is_cpu else map(Moments.of, parts)
    return reduce(add, found)


def gather_statistics(rows: Rows) -> Statistics:
    """One pass over the rows, in blocks, where the work is done."""
    return rows.total(partial(block_moments, rows.device), add).statistics()
