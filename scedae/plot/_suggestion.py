"""The evidence for each number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import axes_for, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Candidates named in the picture.
_NAMED = 3


def suggestion(suggestion: Any, *, ax: Axes | None = None) -> Axes:
    """Gap, stability and score of each number of clusters; the best are named.

    Parameters
    ----------
    suggestion : ClusterSuggestion, or a model fitted with ``n_clusters="auto"``
    ax : Axes, default=None
        Where to draw; new Axes if not given. Stability has an axis of its own, on the
        right.

    Returns
    -------
    ax : Axes
        With a bar for the gap of each number, the part of it that the score leaves in
        a darker shade.
    """
    suggestion = getattr(suggestion, "suggestion_", suggestion)
    if not hasattr(suggestion, "candidates"):
        raise ValueError(
            f"{type(suggestion).__name__} holds no suggestion: pass the result of "
            "scedae.suggest_clusters, or a model fitted with n_clusters='auto'."
        )
    ax = axes_for(ax, 7, 3.8)
    from matplotlib.ticker import MaxNLocator

    best = suggestion.candidates[:_NAMED]
    ranked = sorted(suggestion.candidates, key=lambda each: each.n_clusters)
    number = np.array([each.n_clusters for each in ranked])
    gap = np.array([max(each.gap, 0) for each in ranked])
    score = np.array([each.score for each in ranked])
    ax.bar(number, gap, color="0.85", label="gap")
    ax.bar(number, score, color="C0", label="score: gap · stability⁴")
    for place, each in enumerate(best, 1):
        ax.annotate(
            f"k = {each.n_clusters}",
            (each.n_clusters, max(each.gap, 0)),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontweight="bold" if place == 1 else "normal",
        )
    ax.set(xlabel="number of clusters", ylabel="gap and score")
    ax.margins(y=0.12)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))

    right = ax.twinx()
    stability = [each.stability for each in ranked]
    right.plot(number, stability, "o-", color="C3", ms=3, lw=1, label="stability")
    right.set(ylim=(0, 1.05), ylabel="stability")
    right.spines["top"].set_visible(False)
    plain(ax)
    marks, names = ax.get_legend_handles_labels()
    more_marks, more_names = right.get_legend_handles_labels()
    ax.figure.legend(
        [*marks, *more_marks],
        [*names, *more_names],
        frameon=False,
        loc="outside upper center",
        ncols=3,
    )
    return ax
