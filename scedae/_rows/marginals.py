"""The marginal distributions of standardised columns, made alike where they differ.

A skewed column holds most rows on one spot and a few far away: whoever measures
distances sees the few alone. It is taken to the power (Yeo and Johnson, 2000) after
which it looks most like a normal one. A column of two heaps is skewed, too, where one
is smaller, and stays as it is: Sarle's bimodality coefficient, (skewness² + 1) over the
kurtosis, is 1 for two points and at most 2/3 for any gamma distribution. Rows very far
out are a heap to it, too; they are cut.

A column of few values falls into heaps, whatever the clusters: near rows are those of
one heap, and a graph of them splits along it. So such a column weighs as much as it
tells rows apart, by the factor with which statistics of ranks are corrected for ties:
1 - Σ(t³ - t) / (n³ - n) over its values, each found t times in n rows. Of different
values it is 1; of two values, equally often, 3/4; of a rare one among zeros next to
nothing, and nothing at all where the other columns do not know of it
(``join_counts``). A measurement with many zeros, whose other values differ, keeps its
weight.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import torch

from scedae._random import generator
from scedae._rows.join_counts import MOST_ROWS, known_to_others

# Skewness from which a column is mended; that of an exponential distribution is 2.
_SKEWED = 1.0
# Beyond, no gamma distribution is so skewed: there are heaps.
_MOST_BIMODALITY = 2 / 3
# A column of which one value holds such a share of the rows has no shape to mend.
_HEAVY_SHARE = 0.5
# Where powers are looked for, and how often the interval is cut to a golden part.
_POWERS, _CUTS = (-10.0, 10.0), 20
_GOLDEN = (5**0.5 - 1) / 2
# Values that are told apart so well do not lie in heaps.
_FEW_TIES = 0.95
# Of a column after its power, which is not to be divided by zero.
_LEAST_WIDTH = 1e-12
# Deviations from the mean at which values are cut.
_LIMIT = 5.0
# Numbers, and least rows, that all this is learnt from.
_NUMBERS_LEARNT, _FEWEST_ROWS = 1 << 19, 512


@dataclass(frozen=True)
class Marginals:
    """Columns by a power each, standardised again, cut, and weighted."""

    power: torch.Tensor  # (d,) float64, 1 leaves a column as it is
    center: torch.Tensor  # (d,) float64, of what the power makes
    factor: torch.Tensor  # (d,) float64
    weight: torch.Tensor  # (d,) float64 in [0, 1]

    @property
    def has_heaps(self) -> bool:
        """Whether a column has few values, but more than one."""
        return bool((self.weight < 1).any())

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows of standardised columns; float64, so that no bit depends on a place."""
        there = self.to(rows.device)
        found = rows.to(torch.float64, copy=True)
        bent = there.power != 1
        found[:, bent] = to_powers(found[:, bent], there.power[bent])
        found = (found - there.center).mul_(there.factor).clamp_(-_LIMIT, _LIMIT)
        return found.mul_(there.weight)

    def to(self, device: torch.device) -> Marginals:
        return Marginals(*(getattr(self, f.name).to(device) for f in fields(self)))


def rows_to_look_at(n_columns: int) -> int:
    """How many rows are enough to find transforms of so many columns."""
    return max(_NUMBERS_LEARNT // n_columns, _FEWEST_ROWS)


def find_marginals(
    sample: torch.Tensor, varies: torch.Tensor, seed: int
) -> Marginals | None:
    """What some rows of standardised columns ask for; None, if nothing.

    ``varies`` tells the columns that are not constant, (d,). One that is constant in
    the sample alone tells next to no rows apart.
    """
    values = sample.cpu().double()
    heaviest, weight = _ties(values.numpy())
    weight[varies.cpu() & (values.amin(0) == values.amax(0))] = 0
    if not bool(weight.any()):
        return None
    skewed = _is_skewed(values) & (heaviest < _HEAVY_SHARE)
    if not bool(skewed.any()) and bool((weight == 1).all()):
        return None
    power = torch.ones(values.shape[1], dtype=torch.float64)
    center, factor = torch.zeros_like(power), torch.ones_like(power)
    if bool(skewed.any()):
        power[skewed] = likeliest_powers(values[:, skewed])
        bent = to_powers(values[:, skewed], power[skewed])
        center[skewed] = bent.mean(0)
        factor[skewed] = 1 / bent.std(0, correction=0).clamp(min=_LEAST_WIDTH)
    found = Marginals(power, center, factor, weight)
    order = torch.randperm(len(values), generator=generator(seed, "marginals"))
    some = found(values[order[:MOST_ROWS]]).numpy()
    known = known_to_others(some, tested=(weight < 1).numpy())
    return replace(found, weight=weight * torch.from_numpy(known))


def to_powers(values: torch.Tensor, power: torch.Tensor) -> torch.Tensor:
    """Yeo and Johnson's transform of each column, by its own power."""
    positive = values >= 0
    exponent = torch.where(positive, power, 2 - power)
    size = values.abs().log1p()
    scaled = torch.expm1(exponent * size) / torch.where(exponent == 0, 1, exponent)
    found = torch.where(exponent == 0, size, scaled)
    return torch.where(positive, found, -found)


def likeliest_powers(values: torch.Tensor) -> torch.Tensor:
    """The power of each column after which a normal distribution fits it best.

    By golden section, for all columns at once.
    """
    logs = (values.sign() * values.abs().log1p()).mean(0)  # Jacobian, per unit of power

    def fit(power: torch.Tensor) -> torch.Tensor:
        spread = to_powers(values, power).var(0, correction=0)
        return (power - 1) * logs - spread.log() / 2

    low, high = (torch.full_like(logs, end) for end in _POWERS)
    for _ in range(_CUTS):
        reach = _GOLDEN * (high - low)
        left, right = high - reach, low + reach
        falls = fit(left) > fit(right)
        low, high = torch.where(falls, low, left), torch.where(falls, right, high)
    return (low + high) / 2


def _is_skewed(values: torch.Tensor) -> torch.Tensor:
    """Whether each column has a long tail, and no second heap."""
    offsets = values - values.mean(0)
    width = offsets.square().mean(0).sqrt()
    offsets /= torch.where(width > 0, width, 1)
    skewness, kurtosis = offsets.pow(3).mean(0), offsets.pow(4).mean(0)
    one_heap = skewness**2 + 1 <= _MOST_BIMODALITY * kurtosis
    return (skewness.abs() > _SKEWED) & one_heap


def _ties(values: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The share of each column's commonest value, and what the column weighs."""
    heaviest, weight = [], []
    for column in values.T:
        times = np.sort(np.unique(column, return_counts=True)[1].astype(float))
        others = times[:-1]  # beside the commonest
        in_heaps = len(others) == 1 or told_apart(others) < _FEW_TIES
        heaviest.append(times[-1] / len(column))
        weight.append(told_apart(times) if in_heaps else 1.0)
    return torch.tensor(heaviest), torch.tensor(weight, dtype=torch.float64)


def told_apart(times: np.ndarray) -> float:
    """The correction for ties, of values that are found so many times."""
    n_rows = float(times.sum())
    return 1 - float((times**3 - times).sum()) / max(n_rows**3 - n_rows, 1)
