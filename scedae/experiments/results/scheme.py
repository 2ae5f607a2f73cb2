"""Fig. 1: the scheme of the method, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.experiments.results.drawing import grid
from scedae.plot._canvas import bare, colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROWS = 18  # of every matrix in the picture
_LEVELS = (2.0, 0.0, -2.0)  # where the three members stand
_NAMES = ("1", "2", "m")


def draw_scheme() -> Figure:
    """Networks, encodings, affinities, their concatenation, B, and clusters."""
    figure, axes = grid(1, 1, 11, 4.6)
    ax = axes[0, 0]
    random = np.random.default_rng(0)
    _matrix(ax, random.random((_ROWS, 8)), (0, 0), (0.8, 1.7), "X", cmap="Greys")
    for number, (level, name) in enumerate(zip(_LEVELS, _NAMES, strict=True)):
        shade = colors(3)[number]
        _arrow(ax, (0.9, 0), (1.35, level))
        _network(ax, (2.0, level), shade)
        _arrow(ax, (2.65, level), (3.05, level))
        codes = random.random((_ROWS, 3))
        _matrix(ax, codes, (3.1, level), (0.35, 1.2), f"$Y_{name}$", cmap="Greys")
        _arrow(ax, (3.55, level), (4.0, level))
        _affinity(ax, random, (4.05, level), shade, f"$Z_{name}$")
        _arrow(ax, (4.95, level), (5.4, 0.25 * level))
    for number in range(3):
        shade = colors(3)[number]
        _affinity(ax, random, (5.45 + 0.8 * number, 0), shade, "")
    ax.text(
        6.65,
        1.05,
        r"$\bar Z = [\hat Z_1 | \hat Z_2 | \dots | \hat Z_m]/\sqrt{m}$",
        ha="center",
        fontsize=10,
    )
    _arrow(ax, (7.95, 0), (8.4, 0))
    groups = np.repeat([0, 1, 2], _ROWS // 3)
    blocks = np.eye(3)[groups] + 0.25 * random.random((_ROWS, 3))
    _matrix(ax, blocks, (8.45, 0), (0.45, 1.7), "B", cmap="Greys")
    _arrow(ax, (9.0, 0), (9.45, 0))
    _clusters(ax, random, (10.1, 0))
    for x, text in _CAPTIONS:
        ax.text(x, -3.0, text, ha="center", va="top", fontsize=9, color="0.25")
    ax.text(2.0, 1.0 - 2.0, "⋮", ha="center", va="center", fontsize=14)
    ax.set(xlim=(-0.2, 10.9), ylim=(-3.9, 3.1))
    bare(ax)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return figure


_CAPTIONS = (
    (0.4, "rows"),
    (2.0, "m autoencoders\n(starts, epochs,\nstructures)"),
    (3.3, "encodings\n(the waists)"),
    (4.45, "(a) affinity to\np landmarks"),
    (6.65, "(b) one sparse matrix"),
    (8.65, "(c) left singular\nvectors"),
    (10.1, "k-means"),
)


def _matrix(
    ax: Axes,
    values: np.ndarray,
    left: tuple[float, float],
    size: tuple[float, float],
    name: str,
    **style: Any,
) -> None:
    """Values as shades, in a frame, with a name above; ``left`` is the left middle."""
    (x, y), (width, height) = left, size
    extent = (x, x + width, y - height / 2, y + height / 2)
    ax.imshow(values, extent=extent, aspect="auto", vmin=0, vmax=1.3, **style)
    ax.plot(
        [x, x + width, x + width, x, x],
        [y - height / 2] * 2 + [y + height / 2] * 2 + [y - height / 2],
        color="0.3",
        linewidth=0.8,
    )
    ax.text(x + width / 2, y + height / 2 + 0.08, name, ha="center", fontsize=11)


def _affinity(
    ax: Axes,
    random: np.random.Generator,
    left: tuple[float, float],
    shade: Any,
    name: str,
) -> None:
    """Few entries a row, near those of its neighbours."""
    from matplotlib.colors import LinearSegmentedColormap

    values = np.zeros((_ROWS, 9))
    for row, cluster in enumerate(np.repeat([0, 1, 2], _ROWS // 3)):
        values[row, 3 * cluster + random.permutation(3)[:2]] = random.uniform(
            0.5, 1.3, 2
        )
    ramp = LinearSegmentedColormap.from_list("member", ["white", shade])
    _matrix(ax, values, left, (0.8, 1.2), name, cmap=ramp)


def _network(ax: Axes, middle: tuple[float, float], shade: Any) -> None:
    """The hourglass of an autoencoder."""
    x, y = middle
    heights = (0.62, 0.45, 0.12, 0.45, 0.62)
    places = np.linspace(x - 0.55, x + 0.55, len(heights))
    top = [y + h for h in heights]
    bottom = [y - h for h in heights]
    ax.fill_between(places, bottom, top, color=shade, alpha=0.35, linewidth=0)
    for place, low, high in zip(places, bottom, top, strict=True):
        ax.plot([place, place], [low, high], color=shade, linewidth=2.5)


def _clusters(
    ax: Axes, random: np.random.Generator, middle: tuple[float, float]
) -> None:
    x, y = middle
    for (across, up), shade in zip(
        ((-0.35, 0.45), (0.4, 0.35), (0.05, -0.55)), colors(6)[3:], strict=True
    ):
        points = random.normal((x + across, y + up), (0.1, 0.14), (25, 2))
        ax.scatter(points[:, 0], points[:, 1], s=8, color=shade, linewidths=0)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    style = {"arrowstyle": "-|>", "color": "0.35", "linewidth": 1.0}
    ax.annotate("", xy=end, xytext=start, arrowprops=style)
