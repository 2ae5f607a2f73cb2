"""The embedding as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import axes_for, bare, colors, entitle, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = ("tsne", "pca")

# Rows drawn: of more, points hide each other.
MAX_ROWS = 3000
# Fewer rows have no neighbourhoods that t-SNE could keep.
_TSNE_LEAST_ROWS = 10
# More names than this cover the points.
_MOST_LABELLED = 30


def embedding(
    model: Any, y: Any = None, *, method: str = "tsne", ax: Axes | None = None
) -> Axes:
    """The training rows on a map of their embedding; doubtful rows are paler.

    Parameters
    ----------
    model : fitted estimator
    y : array-like of shape (n_samples,), default=None
        Known classes to colour by, instead of the clusters.
    method : {"tsne", "pca"}, default="tsne"
        How the coordinates become two. t-SNE keeps neighbourhoods, PCA distances.
    ax : Axes, default=None
        Where to draw; new Axes if not given.

    Returns
    -------
    ax : Axes
        With one collection of points for each cluster or class. Of more than 3,000
        rows a sample is drawn.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering, plot
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> ax = plot.embedding(model, method="pca")
    >>> ax.get_title(loc="left")
    '300 rows in 3 clusters'
    """
    require(model, "embedding_")
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(METHODS)}.")
    groups = np.asarray(model.labels_ if y is None else y)
    if groups.shape != model.labels_.shape:
        raise ValueError(
            f"y has shape {groups.shape}; the model was fitted on "
            f"{len(model.labels_)} rows."
        )
    rows = _sample(len(groups))
    places = _map(model.embedding_[rows], method)
    groups, alpha = groups[rows], _opacity(model)[rows]

    ax = axes_for(ax, 6.5, 5)
    names = np.unique(groups)
    for name, color in zip(names, colors(len(names)), strict=True):
        own = groups == name
        shade = np.column_stack([np.tile(color[:3], (own.sum(), 1)), alpha[own]])
        right, up = places[own].T
        ax.scatter(right, up, color=shade, s=9, linewidths=0, label=str(name))
        if own.any() and len(names) <= _MOST_LABELLED:
            _label(ax, places[own], str(name))
    _legend(ax, "cluster" if y is None else "class", names)
    what = f"{len(model.labels_):,} rows"
    if len(rows) < len(model.labels_):
        what = f"{len(rows):,} of {what}"
    entitle(ax, f"{what} in {len(model.cluster_centers_)} clusters")
    bare(ax)
    return ax


def _sample(n_rows: int) -> np.ndarray:
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows)
    generator = np.random.default_rng(0)
    return np.sort(generator.choice(n_rows, MAX_ROWS, replace=False))


def _map(points: np.ndarray, method: str) -> np.ndarray:
    """Two coordinates for each point, of shape (n, 2)."""
    if method == "pca" or len(points) < _TSNE_LEAST_ROWS:
        return _principal(points)
    from scedae._tsne import tsne

    return tsne(points)


def _principal(points: np.ndarray) -> np.ndarray:
    centred = points - points.mean(0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(points), 2))
    places[:, : len(s)] = (U * s)[:, :2]
    return places


def _opacity(model: Any) -> np.ndarray:
    confidence = getattr(model, "confidence_", np.ones(len(model.labels_)))
    return 0.25 + 0.75 * confidence


def _label(ax: Axes, places: np.ndarray, name: str) -> None:
    """The name of a cluster at that of its points which is nearest to their median."""
    from matplotlib.patheffects import withStroke

    middle = np.median(places, axis=0)
    nearest = places[((places - middle) ** 2).sum(axis=1).argmin()]
    text = ax.annotate(name, nearest, ha="center", va="center", fontweight="bold")
    text.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _legend(ax: Axes, title: str, names: np.ndarray) -> None:
    from matplotlib.lines import Line2D

    if len(names) > 30:  # nobody tells thirty colours apart
        return
    dots = [
        Line2D([], [], linestyle="", marker="o", color=color, label=str(name))
        for name, color in zip(names, colors(len(names)), strict=True)
    ]
    ax.legend(
        handles=dots,
        title=title,
        frameon=False,
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        ncols=1 + len(names) // 16,
    )
