"""What is known of the rows beside the numbers that were clustered, by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scedae.report.numerals import day, short
from scedae.report.source import NamedRows

# Columns shown, and categories of one of them; the rest is no longer read.
MOST_COLUMNS = 40
MOST_LEVELS = 9
OTHER = "other"


@dataclass(frozen=True)
class NumberAbout:
    """A column of numbers in its own units; NaN where there is a gap."""

    name: str
    values: np.ndarray  # (n,) float64
    is_date: bool = False  # days since 1970

    def written(self, row: int) -> str:
        """The cell of a row, as people read it."""
        value = float(self.values[row])
        return day(value) if self.is_date else short(value)


@dataclass(frozen=True)
class CategoryAbout:
    """A column of categories, by the number of the category; -1 in gaps."""

    name: str
    levels: list[str]
    codes: np.ndarray  # (n,)

    def written(self, row: int) -> str:
        code = int(self.codes[row])
        return "–" if code < 0 else self.levels[code]


About = NumberAbout | CategoryAbout


def about_columns(
    source: NamedRows, given: Any, *, pixels: bool = False
) -> list[About]:
    """The columns of ``given``, or those of the rows themselves.

    Where those are ``pixels`` they say little one by one, and pictures say it all.
    """
    if given is None and pixels:
        return []
    if given is None:
        columns = min(source.n_columns, MOST_COLUMNS)
        wide = source.n_columns > 4 * MOST_COLUMNS  # pixels and words say little alone
        if wide:
            return []
        rows = source.take(slice(None))[:, :columns]
        return [
            NumberAbout(source.columns[j], np.ascontiguousarray(rows[:, j]))
            for j in range(columns)
        ]
    left_out = set(source.columns) if pixels else set()
    found = [
        _column(name, values, source.n_rows)
        for name, values in _pairs(given)
        if name not in left_out
    ]
    return [column for column in found if column is not None][:MOST_COLUMNS]


def _pairs(given: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Names and values of a dictionary, or of a frame of pandas or polars."""
    names = given.keys() if isinstance(given, dict) else given.columns
    for name in names:
        values = given[name]
        if hasattr(values, "to_numpy"):
            values = values.to_numpy()
        yield str(name), np.asarray(values)


def _column(name: str, values: np.ndarray, n_rows: int) -> About | None:
    if values.shape != (n_rows,):
        raise ValueError(
            f"about has {values.shape} values in column {name!r} where {n_rows} are "
            "needed."
        )
    if values.dtype.kind == "M":
        days = values.astype("datetime64[s]").astype(np.float64) / 86_400
        days[np.isnat(values)] = np.nan
        return NumberAbout(name, days, is_date=True)
    if values.dtype.kind in "uif":
        return NumberAbout(name, values.astype(np.float64))
    return _category(name, values)


def _category(name: str, values: np.ndarray) -> CategoryAbout | None:
    """None for columns of which nearly every cell differs: they describe nothing."""
    texts = np.array(["" if _is_gap(v) else str(v) for v in values.tolist()])
    levels, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    if len(levels) > max(len(values) / 2, MOST_LEVELS):
        return None
    order = np.argsort(-counts, kind="stable")
    order = order[levels[order] != ""]
    place = np.full(len(levels), -1)
    kept = order[:MOST_LEVELS]
    place[kept] = np.arange(len(kept))
    place[order[MOST_LEVELS:]] = MOST_LEVELS
    shown = [str(level)[:40] for level in levels[kept]]
    if len(order) > MOST_LEVELS:
        shown.append(OTHER)
    return CategoryAbout(name, shown, place[codes])


def _is_gap(value: Any) -> bool:
    return value is None or value != value
