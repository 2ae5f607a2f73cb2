"""The paper's figures, drawn from records and points; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.experiments.plan import Run
from scedae.experiments.points import points_file, read_points
from scedae.experiments.results.cells import Measurements
from scedae.experiments.results.tables import METHOD_TITLES
from scedae.experiments.specification import Specification, structure_name
from scedae.plot._canvas import bare, colors, plain, pyplot

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


def draw_shapes(folder: Path, variant: str, spec: Specification) -> Figure | None:
    """Shapes as they are, then the first two components of B for each lifting."""
    shapes, liftings = spec.shapes.shapes, spec.shapes.liftings
    size = (1 + len(liftings), len(shapes))
    figure, axes = _grid(*size, 2.3, 2.2)
    found = False
    for column, shape in enumerate(shapes):
        for row, lifting in enumerate(liftings, 1):
            path = points_file(folder, Run("fcps", shape, lifting, 0, variant=variant))
            ax = axes[row, column]
            bare(ax)
            if not path.exists():
                continue
            found = True
            kept = read_points(path)
            _scatter(ax, kept["embedding"], kept["labels"], size=5)
            _draw_flat(figure, axes, column, kept, size)
    if not found:
        return None
    for column, shape in enumerate(shapes):
        axes[0, column].set_title(shape.capitalize())
    for row, text in enumerate(["shape", *(METHOD_TITLES[name] for name in liftings)]):
        _row_label(axes[row, 0], text)
    return figure


def _row_label(ax: Axes, text: str) -> None:
    """Left of a picture, also where the axes have three dimensions."""
    write = getattr(ax, "text2D", ax.text)
    style: dict[str, Any] = {"rotation": 90, "va": "center", "ha": "right"}
    write(-0.04, 0.5, text, transform=ax.transAxes, **style)


def _draw_flat(
    figure: Figure,
    axes: np.ndarray,
    column: int,
    kept: dict[str, np.ndarray],
    size: tuple[int, int],
) -> None:
    """The shape itself, once; in three dimensions where it has them."""
    flat = kept["flat"]
    ax = axes[0, column]
    if ax.collections:
        return
    if flat.shape[1] == 3:
        ax.remove()
        ax = figure.add_subplot(*size, column + 1, projection="3d")
        ax.set(xticks=[], yticks=[], zticks=[])
        axes[0, column] = ax
    else:
        bare(ax)
    _scatter(ax, flat, kept["labels"], size=5)


def draw_boxplots(found: Measurements, spec: Specification) -> Figure | None:
    """ARI and NMI over all runs of each method, a column for each data set."""
    columns = {
        key: boxes for key in spec.data if (boxes := _boxes(found, key, spec, "ari"))
    }
    if not columns:
        return None
    figure, axes = _grid(2, len(columns), 3.2, 2.6)
    for column, key in enumerate(columns):
        for row, metric in enumerate(("ari", "nmi")):
            _draw_boxes(axes[row, column], _boxes(found, key, spec, metric))
        axes[0, column].set_title(spec.data[key].title)
        axes[0, column].set_xticklabels([])  # those of the picture below
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
    style: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(1, len(boxes) + 1), names, **style)
    plain(ax)


def draw_maps(folder: Path, spec: Specification) -> Figure | None:
    """t-SNE of B, coloured by class."""
    kept = {}
    for key in spec.data:
        path = points_file(folder, Run("tsne", key, "map", 0))
        if path.exists():
            kept[key] = read_points(path)
    if not kept:
        return None
    figure, axes = _grid(1, len(kept), 4, 4)
    for ax, (key, points) in zip(axes[0], kept.items(), strict=True):
        places = points["places"].astype(float)
        size = 4 if len(places) < 20_000 else 1
        _scatter(ax, places, points["classes"], size=size)
        n_rows = f"{len(places):,} rows"
        ax.set_title(f"{spec.data[key].title}\n{n_rows}")
        bare(ax)
    figure.legend(
        handles=_dots(np.unique(next(iter(kept.values()))["classes"])),
        title="class",
        frameon=False,
        loc="outside right center",
    )
    return figure


def _grid(
    n_rows: int, n_columns: int, width: float, height: float
) -> tuple[Figure, np.ndarray]:
    return pyplot().subplots(
        n_rows,
        n_columns,
        figsize=(width * n_columns, height * n_rows),
        layout="constrained",
        squeeze=False,
    )


def _scatter(ax: Axes, places: np.ndarray, groups: np.ndarray, size: float) -> None:
    shade = colors(int(groups.max()) + 1)[groups]
    # Rasterized: sixty thousand points as vectors would be no file to look at.
    style: dict[str, Any] = {"c": shade, "s": size, "rasterized": True}
    ax.scatter(*places.T, linewidths=0, **style)


def _dots(groups: Sequence[int] | np.ndarray) -> list[Any]:
    from matplotlib.lines import Line2D

    shades = colors(int(max(groups)) + 1)
    return [
        Line2D([], [], linestyle="", marker="o", color=shades[g], label=str(g))
        for g in groups
    ]
