"""The figure of accuracy against the number of members, of landmarks, and of epochs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from scedae.experiments.results.drawing import grid
from scedae.experiments.specification import Specification
from scedae.experiments.store import Record
from scedae.plot._canvas import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Scores in percent by what is varied.
Curve = dict[int, list[float]]


def draw_accuracy_curves(
    records: Sequence[Record], spec: Specification
) -> Figure | None:
    """A row for each data set, with a band of one standard deviation."""
    own = [r for r in records if r["experiment"] in ("curves", "baselines")]
    keys = [
        key
        for key in spec.data
        if any((r["experiment"], r["data"]) == ("curves", key) for r in own)
    ]
    if not keys:
        return None
    figure, axes = grid(len(keys), 3, 3.4, 2.5, sharey="row")
    for row, key in zip(axes, keys, strict=True):
        _draw_row(row, [r for r in own if r["data"] == key], spec)
        row[0].set_ylabel(f"{spec.data[key].title}\nACC, percent")
        row[0].yaxis.get_major_locator().set_params(integer=True)
    for ax, name in zip(axes[-1], ("networks m", "landmarks p", "epochs"), strict=True):
        ax.set_xlabel(name)
    labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(*labels, frameon=False, loc="outside upper center", ncols=2)
    return figure


def _draw_row(
    axes: Sequence[Axes], records: Sequence[Record], spec: Specification
) -> None:
    ensembles = [r for r in records if r["experiment"] == "curves"]
    drawn = [r for r in ensembles if r["method"] == "ens-members"]
    of_structures = [r for r in ensembles if r["method"] == "ens-struct"]
    single = [r for r in records if r["method"] == "dae-lsc"]
    p, epochs = spec.ensemble_landmarks, spec.ensemble_epochs
    _draw(axes[0], _curve(drawn, "variant"), "C0", "ensemble")
    for ax, over, fixed, value in (
        (axes[1], "n_landmarks", "epochs", epochs),
        (axes[2], "epochs", "n_landmarks", p),
    ):
        _draw(ax, _curve(_with(of_structures, fixed, value), over), "C0", "ensemble")
        _draw(ax, _curve(_with(single, fixed, value), over), "0.55", "one network")


def _with(records: Iterable[Record], name: str, value: int) -> list[Record]:
    return [record for record in records if record[name] == value]


def _curve(records: Iterable[Record], over: str) -> Curve:
    curve: Curve = {}
    for record in records:
        curve.setdefault(int(record[over]), []).append(100 * record["scores"]["acc"])
    return dict(sorted(curve.items()))


def _draw(ax: Axes, curve: Curve, color: str, label: str) -> None:
    plain(ax)
    if not curve:
        return
    places = list(curve)
    means = [statistics.fmean(values) for values in curve.values()]
    spreads = [statistics.pstdev(values) for values in curve.values()]
    # Few runs fall far: the band ends at the worst and the best, where there are runs.
    together = list(zip(means, spreads, curve.values(), strict=True))
    low = [max(mean - spread, min(values)) for mean, spread, values in together]
    high = [min(mean + spread, max(values)) for mean, spread, values in together]
    ax.fill_between(places, low, high, color=color, alpha=0.18, linewidth=0)
    ax.plot(places, means, color=color, marker="o", markersize=3.5, label=label)
