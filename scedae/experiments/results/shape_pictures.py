"""The figure of the shapes: each as it is, and by the first components of B."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.experiments.kept_files import points_file, read_points
from scedae.experiments.plan import PaperRun
from scedae.experiments.results.drawing import grid, scatter
from scedae.experiments.results.paper_tables import METHOD_TITLES
from scedae.experiments.specification import Specification
from scedae.plot._canvas import bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_shapes(folder: Path, variant: str, spec: Specification) -> Figure | None:
    """Shapes as they are, then the first two components of B for each lifting.

    Of shapes that were run; None, if none was.
    """
    liftings = spec.shapes.liftings

    def file_of(shape: str, lifting: str) -> Path:
        return points_file(folder, PaperRun("fcps", shape, lifting, 0, variant=variant))

    shapes = [
        shape
        for shape in spec.shapes.shapes
        if any(file_of(shape, lifting).exists() for lifting in liftings)
    ]
    if not shapes:
        return None
    size = (1 + len(liftings), len(shapes))
    figure, axes = grid(*size, 2.3, 2.2)
    for column, shape in enumerate(shapes):
        for row, lifting in enumerate(liftings, 1):
            path = file_of(shape, lifting)
            ax = axes[row, column]
            bare(ax)
            if path.exists():
                kept = read_points(path)
                scatter(ax, kept["embedding"], kept["labels"], size=5)
                _draw_flat(figure, axes, column, kept, size)
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
    scatter(ax, flat, kept["labels"], size=5)
