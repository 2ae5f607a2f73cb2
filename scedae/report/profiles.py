"""Each cluster in real units: means, spreads and shares beside those of the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from scedae.report.about import About, CategoryAbout, NumberAbout
from scedae.report.numerals import aligned, day, percent

# Lines of a card, and of the heat map.
_LINES_OF_A_CARD = 6
_LINES_OF_THE_MAP = 24
# A column that no cluster differs in by so many deviations says nothing there.
_LEAST_TELLING = 0.2
_BINS = 14
# What a category that a cluster lacks counts beside one that it has.
_LACK = 0.8
# Farther out than this share of the rows, a histogram shows nothing.
_TAIL = 0.01


@dataclass(frozen=True)
class Histogram:
    """Heights of the cluster and of the rest, from 0 to 1, by bin."""

    own: list[float]
    rest: list[float]
    low: str
    high: str


@dataclass(frozen=True)
class ProfileLine:
    """One column in one cluster."""

    column: str
    own: str
    rest: str
    gaps: str
    strength: float
    histogram: Histogram | None


@dataclass(frozen=True)
class HeatMap:
    """Clusters across, columns down, in standard deviations."""

    columns: list[str]
    clusters: list[int]
    cells: list[list[float]]


@dataclass(frozen=True)
class Trait:
    """Something a row has or has not, or has more or less of."""

    column: About
    level: int | None
    name: str
    differences: np.ndarray  # (k,) cluster mean minus mean of the rest, in deviations


def traits_of(columns: list[About], labels: np.ndarray, n_clusters: int) -> list[Trait]:
    """Numbers, and every category by itself, by how far clusters differ in them."""
    found = []
    for column in columns:
        if isinstance(column, NumberAbout):
            differences = _differences(column.values, labels, n_clusters)
            found.append(Trait(column, None, column.name, differences))
            continue
        for code, level in enumerate(column.levels):
            has = np.where(column.codes < 0, np.nan, column.codes == code)
            name = f"{column.name}: {level}"
            found.append(
                Trait(column, code, name, _differences(has, labels, n_clusters))
            )
    return [trait for trait in found if np.abs(trait.differences).max() > 0]


def _differences(values: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    there = np.isfinite(values)
    values, labels = values[there], labels[there]
    if len(values) == 0 or np.ptp(values) == 0:
        return np.zeros(n_clusters)
    values = (values - values.mean()) / values.std()
    sizes = np.bincount(labels, minlength=n_clusters)
    sums = np.bincount(labels, values, minlength=n_clusters)
    outside = (values.sum() - sums) / np.maximum(len(values) - sizes, 1)
    return np.where(
        (sizes > 0) & (sizes < len(values)), _mean(sums, sizes) - outside, 0
    )


def _mean(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return sums / np.maximum(sizes, 1)


def by_strength(traits: list[Trait], cluster: int) -> list[Trait]:
    """Those that tell most of a cluster first; to have is read sooner than to lack."""

    def strength(trait: Trait) -> float:
        difference = float(trait.differences[cluster])
        lacks = trait.level is not None and difference < 0
        return abs(difference) * (_LACK if lacks else 1)

    return sorted(traits, key=strength, reverse=True)


def profile(traits: list[Trait], labels: np.ndarray, cluster: int) -> list[ProfileLine]:
    """The lines of a card, strongest first; a column has one line."""
    order = by_strength(traits, cluster)
    lines: dict[str, ProfileLine] = {}
    for trait in order:
        if len(lines) == _LINES_OF_A_CARD or trait.differences[cluster] == 0:
            break
        if trait.column.name not in lines:
            lines[trait.column.name] = _line(trait, labels == cluster, cluster)
    return list(lines.values())


def _line(trait: Trait, mine: np.ndarray, cluster: int) -> ProfileLine:
    strength = float(trait.differences[cluster])
    column = trait.column
    if isinstance(column, CategoryAbout):
        has, gaps = column.codes == trait.level, column.codes < 0
        own, rest = _share(has & mine, mine & ~gaps), _share(has & ~mine, ~mine & ~gaps)
        text = f"{percent(own)} {column.levels[trait.level or 0]}"
        return ProfileLine(
            column.name, text, percent(rest), _gaps(gaps & mine), strength, None
        )
    values = column.values
    own, rest = values[mine], values[~mine]
    written = _writer(column)
    spread = "" if column.is_date else f" ± {written(float(np.nanstd(own)))}"
    return ProfileLine(
        column.name,
        f"{written(float(np.nanmean(own)))}{spread}",
        written(float(np.nanmean(rest))),
        _gaps(np.isnan(own)),
        strength,
        _histogram(column, own, rest),
    )


def _share(has: np.ndarray, among: np.ndarray) -> float:
    return float(has.sum() / max(among.sum(), 1))


def _gaps(gaps: np.ndarray) -> str:
    count = int(gaps.sum())
    return f"{count:,} gap{'' if count == 1 else 's'}" if count else ""


def _writer(column: NumberAbout) -> Callable[[float], str]:
    if column.is_date:
        return day
    spread = float(np.nanstd(column.values))
    return lambda value: aligned(value, spread)


def _histogram(column: NumberAbout, own: np.ndarray, rest: np.ndarray) -> Histogram:
    there = column.values[np.isfinite(column.values)]
    low, high = np.quantile(there, [_TAIL, 1 - _TAIL])
    if not low < high:
        low, high = float(there.min()), float(there.max())
    edges = np.linspace(low, high, _BINS + 1)
    heights = []
    for values in (own, rest):
        inside = values[np.isfinite(values)].clip(low, high)
        counts = np.histogram(inside, edges)[0] / max(len(inside), 1)
        heights.append(counts)
    top = max(float(np.max(heights)), 1e-12)
    own_bins, rest_bins = ((h / top).round(3).tolist() for h in heights)
    written = _writer(column)
    return Histogram(own_bins, rest_bins, written(float(low)), written(float(high)))


def heat_map(traits: list[Trait], clusters: list[int]) -> HeatMap | None:
    """The columns in which clusters differ most, alike ones side by side."""
    if len(clusters) < 2 or len(traits) < 2:
        return None
    strongest = sorted(traits, key=lambda t: -float(np.abs(t.differences).max()))
    telling = [t for t in strongest if np.abs(t.differences).max() >= _LEAST_TELLING]
    shown = (telling if len(telling) >= 2 else strongest)[:_LINES_OF_THE_MAP]
    cells = np.array([trait.differences[clusters] for trait in shown])
    if len(shown) > 2:
        order = leaves_list(linkage(cells, "average", optimal_ordering=True))
        shown, cells = [shown[i] for i in order], cells[order]
    across = np.arange(len(clusters))
    if len(clusters) > 2:
        across = leaves_list(linkage(cells.T, "average", optimal_ordering=True))
    return HeatMap(
        [trait.name for trait in shown],
        [clusters[i] for i in across],
        # No minus before a zero.
        [[round(float(v), 1) + 0.0 for v in line[across]] for line in cells],
    )


def outlines(histogram: Histogram, width: int, height: int) -> tuple[str, str]:
    """The two outlines of a histogram as SVG writes them."""
    step = width / len(histogram.own)

    def outline(heights: list[float]) -> str:
        points = [f"0,{height}"]
        for place, value in enumerate(heights):
            top = round(height * (1 - value), 1)
            left, right = round(place * step, 1), round((place + 1) * step, 1)
            points += [f"{left},{top}", f"{right},{top}"]
        return " ".join([*points, f"{width},{height}"])

    return outline(histogram.own), outline(histogram.rest)
