"""One column made into numbers: what is learnt of it, and what it does to cells.

Each has the weight of one standardised column: the mean squared distance of two rows
is two, whether it becomes one feature or a block of many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from scedae._tables.kinds import CATEGORY, DATE, Kind
from scedae._tables.values import to_days, to_numbers, without_gaps

# No feature is farther from its centre, in deviations: one wild cell is one wild row.
CUT = 5.0
# A block that hardly varies is not blown up beyond this.
_LARGEST_FACTOR = 5.0
# Skewed numbers that are not negative are taken as logarithms.
_SKEWED = 2.0
GAP = "(gap)"
OTHERS = "(other)"


@dataclass(frozen=True)
class Plan:
    """What every column has: its name, its kind, and what was found in it."""

    name: str
    kind: str
    gaps: int
    odd: str | None


@dataclass(frozen=True)
class Cells:
    """Numbers of some rows, and how many cells the fit had not seen the like of."""

    block: np.ndarray  # (n, width)
    unknown: int


@dataclass(frozen=True)
class NumberColumn(Plan):
    """Numbers or days: filled, perhaps as logarithms, centred, divided, cut."""

    style: str
    form: str | None
    log_unit: float | None
    fill: float
    center: float
    spread: float
    flagged: float | None  # deviation of the mark of gaps, where it is wanted

    def __post_init__(self) -> None:
        numbers = (self.fill, self.center, self.spread)
        positive = (self.spread, self.flagged or 1.0, self.log_unit or 1.0)
        if not np.isfinite(numbers).all() or min(positive) <= 0:
            raise ValueError(f"numbers of column {self.name!r} that cannot be")

    @property
    def feature_names(self) -> list[str]:
        flags = [] if self.flagged is None else [f"{self.name}={GAP}"]
        return [self.name, *flags]

    def apply(self, column: pl.Series, na_values: tuple[str, ...]) -> Cells:
        cells = without_gaps(column, na_values, among_numbers=True)
        read = to_days(cells, self.form)
        if self.kind != DATE:
            read = to_numbers(cells, self.style)
        unknown = read.null_count() - cells.null_count()
        values = read.to_numpy().astype(np.float64, copy=False)
        gaps = np.isnan(values)
        filled = np.where(gaps, self.fill, values)
        block = np.empty((len(filled), len(self.feature_names)))
        block[:, 0] = self._scaled(filled)
        if self.flagged is not None:
            block[:, 1] = np.minimum(gaps / self.flagged, CUT)
        return Cells(block, unknown)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        if self.log_unit is not None:
            values = np.log1p(values.clip(min=0) / self.log_unit)
        cut = np.inf if self.center == 0 and self.spread == 1 else CUT
        return ((values - self.center) / self.spread).clip(-cut, cut)


@dataclass(frozen=True)
class CategoryColumn(Plan):
    """Categories: a feature for each, or a single one where there are two."""

    levels: list[str]
    shares: list[float]  # of all filled cells
    others: bool  # whether the last level stands for rare ones

    def __post_init__(self) -> None:
        shares = np.asarray(self.shares, dtype=np.float64)
        known = len(set(self.levels)) == len(self.levels) == len(shares) > 0
        if not known or not np.isfinite(shares).all():
            raise ValueError(f"categories of column {self.name!r} that cannot be")

    @property
    def feature_names(self) -> list[str]:
        levels = self.levels[1:] if len(self.levels) == 2 else self.levels
        return [f"{self.name}={level}" for level in levels]

    @property
    def factor(self) -> float:
        """Such that the variances of the block add up to one."""
        shares = np.asarray(self.shares)
        variance = float(1 - (shares**2).sum())
        if len(shares) == 2:
            variance /= 2
        return min(1 / np.sqrt(max(variance, 1e-12)), _LARGEST_FACTOR)

    @cached_property
    def _known(self) -> pl.Enum:
        return pl.Enum(self.levels)

    def apply(self, column: pl.Series, na_values: tuple[str, ...]) -> Cells:
        text = without_gaps(column, na_values).cast(pl.String)
        if GAP in self.levels:
            text = text.fill_null(GAP)
        codes = text.cast(self._known, strict=False).to_physical()
        strange = text.is_not_null() & codes.is_null()
        unknown = int(strange.sum())
        numbers = codes.cast(pl.Int64).fill_null(-1).to_numpy()
        if self.others and unknown:
            numbers = np.where(strange.to_numpy(), len(self.levels) - 1, numbers)
        return Cells(self._block(numbers), 0 if self.others else unknown)

    def _block(self, codes: np.ndarray) -> np.ndarray:
        width = len(self.feature_names)
        block = np.zeros((len(codes), width), dtype=np.float32)
        first = len(self.levels) - width
        seen = np.flatnonzero(codes >= first)
        block[seen, codes[seen] - first] = self.factor
        # A gap lies where the average row lies: it says nothing.
        block[codes < 0] = np.asarray(self.shares[first:]) * self.factor
        return block


def learn_numbers(
    name: str, kind: Kind, gaps: int, *, impute: str, standardize: bool
) -> NumberColumn:
    """Fill, logarithm, centre and spread of a column of numbers or days."""
    values = kind.cells.drop_nulls().to_numpy().astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        raise ValueError(
            f"column {name!r} has {int((~np.isfinite(values)).sum())} infinite values; "
            "name them in na_values (--na-values inf,-inf) to read them as gaps."
        )
    fill = {"mean": values.mean, "zero": lambda: 0.0}.get(impute, _median(values))()
    log_unit = None
    if standardize and kind.kind != DATE:
        log_unit = _log_unit(values)
    if log_unit is not None:
        values = np.log1p(values / log_unit)
    spread = float(values.std()) or 1.0
    flagged = None
    if impute == "flag" and gaps:
        share = gaps / len(kind.cells)
        flagged = float(np.sqrt(share * (1 - share)))
    return NumberColumn(
        name=name,
        kind=kind.kind,
        gaps=gaps,
        odd=kind.odd,
        style=kind.style,
        form=kind.form,
        log_unit=log_unit,
        fill=float(fill),
        center=float(values.mean()) if standardize else 0.0,
        spread=spread if standardize else 1.0,
        flagged=flagged,
    )


def _median(values: np.ndarray) -> Any:
    return lambda: np.median(values)


def _log_unit(values: np.ndarray) -> float | None:
    """The median of the positive ones, where logarithms are less skewed; else None."""
    if values.min() < 0 or _skewness(values) < _SKEWED:
        return None
    unit = float(np.median(values[values > 0]))
    return unit if abs(_skewness(np.log1p(values / unit))) < _skewness(values) else None


def _skewness(values: np.ndarray) -> float:
    centred = values - values.mean()
    deviation = centred.std()
    return float((centred**3).mean() / deviation**3) if deviation > 0 else 0.0


def learn_categories(
    name: str, kind: Kind, gaps: int, *, impute: str, max_categories: int
) -> CategoryColumn:
    """The frequent categories, and one for the rest of them."""
    cells = kind.cells
    if impute == "flag" and gaps:
        cells = cells.fill_null(GAP)
    counted = cells.drop_nulls().alias("level").value_counts(name="rows")
    counted = counted.sort("rows", "level", descending=[True, False])
    levels, counts = counted["level"].to_list(), counted["rows"].to_list()
    frequent = [c for c in counts[:max_categories] if c > 1] or counts[:1]
    if len(levels) <= max_categories and len(levels) - len(frequent) <= 1:
        frequent = counts
    others = len(frequent) < len(levels)
    if others:
        levels = [*levels[: len(frequent)], OTHERS]
        counts = [*frequent, sum(counts[len(frequent) :])]
    total = sum(counts)
    return CategoryColumn(
        name=name,
        kind=CATEGORY,
        gaps=gaps,
        odd=None,
        levels=levels,
        shares=[count / total for count in counts],
        others=others,
    )
