"""The singular values: does the number of clusters fit the rows?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scedae.report.charts import Chart, Dot, Line, Tick, polyline, x_axis, y_axis
from scedae.report.numerals import short

# A drop that speaks for another number is this many times the next one.
_STANDS_OUT = 1.5


@dataclass(frozen=True)
class Spectrum:
    """The chart, and what this one says."""

    chart: Chart
    reading: str


def draw_spectrum(singular_values: np.ndarray, n_clusters: int) -> Spectrum:
    """Value 1 is the trivial one, which every data set has; the model leaves it out."""
    values = np.concatenate([[1.0], singular_values])
    count = len(values)
    x = x_axis(0.5, count + 0.5)
    y = y_axis(min(float(values.min()), 0.995), 1.0)
    numbered = list(enumerate(map(float, values), 1))
    dots = [
        Dot(x.place(i), y.place(value), f"value {i}: {value:.4f}", i <= n_clusters)
        for i, value in numbered
    ]
    step = max(1, -(-count // 12))
    x_ticks = [Tick(x.place(i), str(i)) for i in range(step, count + 1, step)]
    chart = Chart(
        "number of the value, largest first",
        "singular value",
        x_ticks,
        y.ticks(),
        [Line(polyline(x, y, numbered), 0, "")],
        dots,
        Tick(x.place(n_clusters + 0.5), f"k = {n_clusters}"),
    )
    return Spectrum(chart, _reading(values, n_clusters))


def _reading(values: np.ndarray, n_clusters: int) -> str:
    if n_clusters == 1:
        return "One cluster needs no drop: every data set has one value of 1."
    drops = values[:-1] - values[1:]
    if drops.max() < 1e-3:
        return "Here the values hardly fall, so they say little about the number."
    best = int(drops.argmax()) + 1
    fall = f"from {short(values[best - 1])} to {short(values[best])}"
    if best == n_clusters:
        return f"Here the largest drop, {fall}, comes right after value {best}."
    second, first = np.sort(drops)[-2:]
    if first < _STANDS_OUT * second:
        return (
            "Here no drop stands out: the values speak neither for nor against "
            f"k = {n_clusters}."
        )
    if best == 1:
        return (
            f"Here the largest drop, {fall}, comes at once: the rows form one "
            "connected cloud, and the number of clusters is a matter of taste."
        )
    return (
        f"Here the largest drop, {fall}, comes after value {best}: it may be worth "
        f"looking at k = {best} as well."
    )
