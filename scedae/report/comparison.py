"""Two clusterings of the same rows: who went where."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from scedae import _palette as palette
from scedae._whole_file import whole_file
from scedae.report.numerals import percent
from scedae.report.render import render_page

# The picture of the flow, in pixels.
_WIDTH, _HEIGHT, _BAR, _AIR = 760, 460, 18, 10


@dataclass(frozen=True)
class Comparison:
    """Rows of both by pairs of clusters, and how far they agree."""

    first: list[str]
    second: list[str]
    counts: np.ndarray  # (first, second)
    ari: float
    nmi: float
    moved: int  # rows outside the best matching of clusters

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())


def compare_labels(first: np.ndarray, second: np.ndarray) -> Comparison:
    """Labels of the same rows by two models."""
    counts = contingency_matrix(first, second)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    # Matched pairs face each other.
    rest = np.setdiff1d(np.arange(counts.shape[1]), columns)
    order = np.concatenate([columns[np.argsort(rows)], rest])
    return Comparison(
        [str(label) for label in np.unique(first)],
        [str(label) for label in np.unique(second)[order]],
        counts[:, order],
        float(adjusted_rand_score(first, second)),
        float(normalized_mutual_info_score(first, second)),
        int(counts.sum() - counts[rows, columns].sum()),
    )


@dataclass(frozen=True)
class Block:
    """A cluster at one side of the picture."""

    y: float
    height: float
    color: int
    text: str


@dataclass(frozen=True)
class Band:
    """Rows that go from one cluster to another."""

    path: str
    color: int
    text: str


def write_comparison(
    found: Comparison, path: str | os.PathLike[str], names: tuple[str, str]
) -> None:
    """One page with the flow of rows and the table behind it."""
    left = _blocks(found.first, found.counts.sum(axis=1))
    right = _blocks(found.second, found.counts.sum(axis=0))
    context = {
        "names": names,
        "found": found,
        "agreement": _words(found),
        "left": left,
        "right": right,
        "bands": _bands(found, left, right),
        "width": _WIDTH,
        "height": _HEIGHT,
        "bar": _BAR,
        "shares": (found.counts / found.counts.sum(axis=1, keepdims=True)).round(3),
        "themes": {"light": palette.LIGHT, "dark": palette.DARK},
        "sheet": None,
    }
    page = render_page(context, "compare.html")
    with whole_file(path) as file:
        file.write_text(page, encoding="utf-8")


def _words(found: Comparison) -> str:
    stay = percent(1 - found.moved / found.n_rows)
    return (
        f"{stay} of the rows stay together when each cluster is matched with one of "
        f"the other run; {found.moved:,} rows move."
    )


def _blocks(labels: list[str], sizes: np.ndarray) -> list[Block]:
    room = _HEIGHT - _AIR * (len(labels) - 1)
    y, blocks = 0.0, []
    for place, (label, size) in enumerate(zip(labels, sizes.tolist(), strict=True)):
        height = room * size / sizes.sum()
        text = f"{label} · {size:,}"
        blocks.append(Block(round(y, 1), round(height, 1), palette.color(place), text))
        y += height + _AIR
    return blocks


def _bands(found: Comparison, left: list[Block], right: list[Block]) -> list[Band]:
    bands = []
    starts = [block.y for block in left]
    ends = [block.y for block in right]
    totals = found.counts.sum(axis=1), found.counts.sum(axis=0)
    for i, j in np.argwhere(found.counts > 0).tolist():
        count = int(found.counts[i, j])
        high = left[i].height * count / totals[0][i]
        low = right[j].height * count / totals[1][j]
        path = _band(starts[i], high, ends[j], low)
        starts[i], ends[j] = starts[i] + high, ends[j] + low
        text = f"{count:,} rows from {found.first[i]} to {found.second[j]}"
        bands.append(Band(path, left[i].color, text))
    return bands


def _band(y1: float, h1: float, y2: float, h2: float) -> str:
    """A curved strip between the two sides, as SVG writes it."""
    a, b, middle = _BAR, _WIDTH - _BAR, _WIDTH / 2
    return (
        f"M{a},{y1:.1f} C{middle},{y1:.1f} {middle},{y2:.1f} {b},{y2:.1f} "
        f"L{b},{y2 + h2:.1f} C{middle},{y2 + h2:.1f} {middle},{y1 + h1:.1f} "
        f"{a},{y1 + h1:.1f} Z"
    )
