"""What the pictures share: Axes to draw on, colours, names of members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from scedae._palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """The Axes given, or new ones of a size in inches."""
    if ax is not None:
        return ax
    _, ax = pyplot().subplots(figsize=(width, height), layout="constrained")
    return ax


def pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib: pip install 'scedae[plot]'."
        ) from error
    return matplotlib.pyplot


def require(model: Any, *attributes: str) -> None:
    """An error that names what a model does not have."""
    check_is_fitted(model, "pipeline_")
    for name in attributes:
        if not hasattr(model, name):
            raise ValueError(f"{type(model).__name__} has no {name} to draw.")


def colors(n_colors: int) -> np.ndarray:
    """Colours that can be told apart, of shape (n_colors, 4); those of the report."""
    maps = pyplot().colormaps
    if n_colors <= len(LIGHT):
        from matplotlib.colors import to_rgba_array

        # A list: old versions take a tuple of two for a colour and its opacity.
        return to_rgba_array(list(LIGHT[:n_colors]))
    if n_colors <= 20:
        return maps["tab20"](np.arange(n_colors))
    return maps["turbo"](np.linspace(0, 1, n_colors))


def member_names(model: Any) -> list[str]:
    """A name for each member: its number and what it is made of."""
    names = []
    for number, report in enumerate(model.members_, 1):
        widths = "-".join(map(str, report.spec.hidden_layers)) or "rows"
        names.append(f"{number}  {widths}")
    return names


def entitle(ax: Axes, text: str) -> None:
    """A title at the left, where reading begins."""
    ax.set_title(text, loc="left", fontsize="medium", fontweight="semibold")


def bare(ax: Axes) -> None:
    """No frame and no ticks: the coordinates mean nothing."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def plain(ax: Axes) -> None:
    """Two axis lines are enough."""
    ax.spines[["top", "right"]].set_visible(False)
