"""The evidence for each number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import colors, entitle, plain, pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Candidates named in the picture.
_NAMED = 3


def suggestion(suggestion: Any) -> Figure:
    """Stability, gap and score of each number of clusters; the best are named.

    Parameters
    ----------
    suggestion : ClusterSuggestion, or a model fitted with ``n_clusters="auto"``

    Returns
    -------
    figure : Figure
        Two Axes, one above the other: the stability of each number, and bars for its
        gap, of which the score is the part in a darker shade.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering, plot
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = LandmarkSpectralClustering("auto", random_state=0).fit(X)
    >>> figure = plot.suggestion(model)
    """
    suggestion = getattr(suggestion, "suggestion_", suggestion)
    if not hasattr(suggestion, "candidates"):
        raise ValueError(
            f"{type(suggestion).__name__} holds no suggestion: pass the result of "
            "scedae.suggest_clusters, or a model fitted with n_clusters='auto'."
        )
    figure, (above, below) = pyplot().subplots(
        2, figsize=(7, 4.5), sharex=True, height_ratios=(2, 3), layout="constrained"
    )
    ranked = sorted(suggestion.candidates, key=lambda each: each.n_clusters)
    numbers = np.array([each.n_clusters for each in ranked])
    gaps = np.array([max(each.gap, 0) for each in ranked])

    above.plot(
        numbers, [each.stability for each in ranked], "o-", ms=4, color=colors(2)[1]
    )
    above.set(ylim=(0, 1.05), ylabel="stability")
    entitle(above, "Evidence for each number of clusters")
    below.bar(numbers, gaps, color="0.85", label="gap")
    scores = [each.score for each in ranked]
    below.bar(numbers, scores, color=colors(1)[0], label="score: gap · stability⁶")
    _name(below, suggestion.candidates[:_NAMED])
    below.set(xlabel="number of clusters", ylabel="gap and score")
    below.legend(frameon=False)
    for ax in (above, below):
        ax.axvline(suggestion.n_clusters, color="0.6", ls="--", lw=0.8, zorder=0)
        plain(ax)
    return figure


def _name(ax: Any, candidates: Any) -> None:
    """Their numbers above their bars, the first in bold."""
    from matplotlib.ticker import MaxNLocator

    for place, each in enumerate(candidates):
        ax.annotate(
            str(each.n_clusters),
            (each.n_clusters, max(each.gap, 0)),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            weight="normal" if place else "bold",
        )
    ax.margins(y=0.12)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
