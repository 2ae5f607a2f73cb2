"""The figure of ARI and NMI over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scedae.experiments.results.cells import Measurements
from scedae.experiments.results.drawing import grid
from scedae.experiments.results.paper_tables import METHOD_TITLES
from scedae.experiments.specification import Specification, structure_name
from scedae.plot._canvas import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOXES = {
    "dae-kmeans": "baselines",
    "dae-lsc": "baselines",
    "ens-init": "ensembles",
    "ens-ep": "ensembles",
    "ens-struct": "ensembles",
}


def draw_boxplots(found: Measurements, spec: Specification) -> Figure | None:
    """ARI and NMI over all runs of each method, a column for each data set."""
    columns = {
        key: boxes for key in spec.data if (boxes := _boxes(found, key, spec, "ari"))
    }
    if not columns:
        return None
    # One scale a metric: boxes of different data sets can be compared.
    figure, axes = grid(2, len(columns), 2.1, 2.5, sharey="row", sharex="col")
    for column, key in enumerate(columns):
        for row, metric in enumerate(("ari", "nmi")):
            _draw_boxes(axes[row, column], _boxes(found, key, spec, metric))
        axes[0, column].set_title(spec.data[key].title)
    axes[0, 0].set_ylabel("ARI, percent")
    axes[1, 0].set_ylabel("NMI, percent")
    return figure


def _boxes(
    found: Measurements, key: str, spec: Specification, metric: str
) -> dict[str, list[float]]:
    structures = ["", *map(structure_name, spec.structures)]
    boxes = {}
    for method, experiment in _BOXES.items():
        values = [
            value
            for structure in structures
            for value in found.values(metric, experiment, key, method, structure, "")
        ]
        if values:
            boxes[method] = values
    return boxes


def _draw_boxes(ax: Axes, boxes: dict[str, list[float]]) -> None:
    shades = {m: ("0.8" if m.startswith("dae") else "C0") for m in boxes}
    drawn = ax.boxplot(
        list(boxes.values()),
        patch_artist=True,
        widths=0.6,
        medianprops={"color": "black"},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.5"},
    )
    for box, method in zip(drawn["boxes"], boxes, strict=True):
        box.set(facecolor=shades[method], edgecolor="0.3")
    names = [METHOD_TITLES[method] for method in boxes]
    ax.set_xticks(range(1, len(boxes) + 1), names, rotation=90)
    ax.grid(axis="y", color="0.9")
    plain(ax)
