"""What the figures share: grids of pictures, coloured points, a legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import colors, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def grid(
    n_rows: int, n_columns: int, width: float, height: float, **shared: Any
) -> tuple[Figure, np.ndarray]:
    """Pictures of one size; ``sharey`` and ``sharex`` as matplotlib has them."""
    return pyplot().subplots(
        n_rows,
        n_columns,
        figsize=(width * n_columns, height * n_rows),
        layout="constrained",
        squeeze=False,
        **shared,
    )


def scatter(ax: Axes, places: np.ndarray, groups: np.ndarray, size: float) -> None:
    shade = colors(int(groups.max()) + 1)[groups]
    # Rasterized: sixty thousand points as vectors would be no file to look at.
    style: dict[str, Any] = {"c": shade, "s": size, "rasterized": True}
    ax.scatter(*places.T, linewidths=0, **style)


def dots(groups: Sequence[int] | np.ndarray) -> list[Any]:
    from matplotlib.lines import Line2D

    shades = colors(int(max(groups)) + 1)
    return [
        Line2D([], [], linestyle="", marker="o", color=shades[g], label=str(g))
        for g in groups
    ]
