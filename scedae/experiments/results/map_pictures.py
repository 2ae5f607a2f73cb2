"""The figure of t-SNE maps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scedae.experiments.kept_files import points_file, read_points
from scedae.experiments.plan import PaperRun
from scedae.experiments.results.drawing import dots, grid, scatter
from scedae.experiments.specification import Specification
from scedae.plot._canvas import bare

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_maps(folder: Path, spec: Specification) -> Figure | None:
    """t-SNE of B, coloured by class."""
    kept = {}
    for key in spec.data:
        path = points_file(folder, PaperRun("tsne", key, "map", 0))
        if path.exists():
            kept[key] = read_points(path)
    if not kept:
        return None
    figure, axes = grid(1, len(kept), 4, 4)
    for ax, (key, points) in zip(axes[0], kept.items(), strict=True):
        places = points["places"].astype(float)
        size = 4 if len(places) < 20_000 else 1
        scatter(ax, places, points["classes"], size=size)
        ax.set_title(_title(spec.data[key].title, f"{len(places):,}"))
        bare(ax)
    figure.legend(
        handles=dots(np.unique(next(iter(kept.values()))["classes"])),
        title="class",
        frameon=False,
        loc="outside right center",
    )
    return figure


def _title(name: str, n_rows: str) -> str:
    """Name and rows; some names say the rows already."""
    return name if n_rows in name else f"{name} ({n_rows})"
