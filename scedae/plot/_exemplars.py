"""Rows that stand for their cluster, and rows that hardly belong to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import bare, colors, pyplot, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rows of each kind and cluster.
N_SHOWN = 6
HEADINGS = ("typical: nearest to the centre", "doubtful: smallest confidence")
# Fewer columns are rarely a picture, though their number may be a square.
_LEAST_PIXELS = 16


def exemplars(model: Any, X: Any, *, shape: tuple[int, int] | None = None) -> Figure:
    """Six typical and six doubtful rows of each cluster.

    Typical rows are those nearest to the centre; doubtful ones have the smallest
    confidence. Rows are drawn as pictures when they are such, else as curves over
    their columns.

    Parameters
    ----------
    model : fitted SCEDAE, LandmarkSpectralClustering or AutoencoderLSC
    X : array-like of shape (n_samples, n_features)
        The rows of the fit.
    shape : (int, int), default=None
        Height and width of the pictures. If not given, rows of 4 x 4, 5 x 5, … numbers
        are taken for square ones.

    Returns
    -------
    figure : Figure
        Two halves, typical and doubtful, with one line of Axes for each cluster
        that has rows.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering, plot
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> figure = plot.exemplars(model, X)
    >>> len(figure.axes)  # six typical and six doubtful rows of three clusters
    36
    """
    require(model, "embedding_", "confidence_", "cluster_centers_")
    X = np.asarray(X)
    if X.ndim != 2 or len(X) != len(model.labels_):
        raise ValueError(
            f"X has shape {X.shape}; the {len(model.labels_)} rows of the fit are "
            "needed."
        )
    shape = _picture_shape(X.shape[1], shape)
    limits = (X.min(), X.max())
    clusters = np.unique(model.labels_)
    figure, typical, doubtful = _canvas(len(clusters))
    for line, (cluster, color) in enumerate(
        zip(clusters, colors(len(clusters)), strict=True)
    ):
        for ax, row in zip(typical[line], _nearest(model, cluster), strict=False):
            _draw(ax, X[row], shape, limits, color)
            ax.set_title(" ", fontsize=7, pad=2)  # as high as on the other side
        for ax, row in zip(doubtful[line], _least_sure(model, cluster), strict=False):
            _draw(ax, X[row], shape, limits, color)
            ax.set_title(f"{model.confidence_[row]:.2f}", fontsize=7, pad=2)
        size = int((model.labels_ == cluster).sum())
        _name(typical[line, 0], f"{cluster}", f"{size:,} rows", color)
    return figure


def _picture_shape(
    n_columns: int, shape: tuple[int, int] | None
) -> tuple[int, int] | None:
    if shape is None:
        side = math.isqrt(n_columns)
        is_square = side * side == n_columns and n_columns >= _LEAST_PIXELS
        return (side, side) if is_square else None
    if shape[0] * shape[1] != n_columns:
        raise ValueError(f"shape={shape} does not fit rows of {n_columns} columns.")
    return shape


def _canvas(n_clusters: int) -> tuple[Figure, np.ndarray, np.ndarray]:
    """A figure, and Axes for typical and doubtful rows, each (n_clusters, 6)."""
    figure = pyplot().figure(
        figsize=(9.5, 0.6 + 0.82 * n_clusters), layout="constrained"
    )
    halves = []
    # Two figures in one: their headings do not push single Axes apart.
    for half, heading in zip(
        figure.subfigures(1, 2, wspace=0.04), HEADINGS, strict=True
    ):
        half.suptitle(heading, fontsize=10)
        axes = half.subplots(n_clusters, N_SHOWN, squeeze=False)
        for ax in axes.flat:
            bare(ax)
        halves.append(axes)
    return figure, halves[0], halves[1]


def _nearest(model: Any, cluster: int) -> np.ndarray:
    """Numbers of the rows nearest to the centre of their cluster."""
    rows = np.flatnonzero(model.labels_ == cluster)
    offsets = model.embedding_[rows] - model.cluster_centers_[cluster]
    return rows[np.argsort((offsets**2).sum(1), kind="stable")[:N_SHOWN]]


def _least_sure(model: Any, cluster: int) -> np.ndarray:
    """Numbers of the rows with the smallest confidence in their cluster."""
    rows = np.flatnonzero(model.labels_ == cluster)
    return rows[np.argsort(model.confidence_[rows], kind="stable")[:N_SHOWN]]


def _draw(
    ax: Axes,
    row: np.ndarray,
    shape: tuple[int, int] | None,
    limits: tuple[float, float],
    color: np.ndarray,
) -> None:
    if shape is None:
        ax.plot(row, color=color, linewidth=1)
        margin = 0.05 * (limits[1] - limits[0]) or 1
        ax.set_ylim(limits[0] - margin, limits[1] + margin)
    else:
        ax.imshow(row.reshape(shape), cmap="gray_r", vmin=limits[0], vmax=limits[1])


def _name(ax: Axes, label: str, size: str, color: np.ndarray) -> None:
    """Number and size of a cluster, left of its line."""
    place: dict[str, Any] = {"transform": ax.transAxes, "ha": "right"}
    ax.text(-0.25, 0.55, label, color=color, weight="bold", va="bottom", **place)
    ax.text(-0.25, 0.45, size, fontsize=7, va="top", **place)
