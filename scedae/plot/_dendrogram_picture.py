"""The layers of a fit: which clusters merge, and into what they split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import axes_for, colors, entitle, plain, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MERGED = "0.6"


def dendrogram(model: Any, *, ax: Axes | None = None) -> Axes:
    """The tree of ``linkage_``, with the clusters of the fit in their colours.

    Leaves are pieces of clusters, named by the cluster they are a part of. The line is
    where the tree has as many branches as the fit has clusters. Above it clusters
    merge, below it they split; heights on both sides are in units of their own.

    Parameters
    ----------
    model : fitted SCEDAE, LandmarkSpectralClustering or AutoencoderLSC
    ax : Axes, default=None
        Where to draw; new Axes if not given.

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering, plot
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> ax = plot.dendrogram(model)
    >>> ax.get_title(loc="left")
    'Layers'
    """
    require(model, "linkage_")
    linkage = model.linkage_
    owners = model.pipeline_.tree.owners.cpu().numpy()
    ax = axes_for(ax, 9, 4)
    from matplotlib.colors import to_hex
    from scipy.cluster.hierarchy import dendrogram as draw

    palette = [to_hex(color) for color in colors(len(model.cluster_centers_))]
    owner_of = _owners_of_nodes(linkage, owners)
    draw(
        linkage,
        ax=ax,
        labels=[str(owner) for owner in owners],
        link_color_func=lambda node: (
            _MERGED if owner_of[node] < 0 else palette[owner_of[node]]
        ),
        leaf_font_size=8,
    )
    n_inner = len(owners) - len(np.unique(owners))
    low = linkage[n_inner - 1, 2] if n_inner else 0.0
    high = linkage[n_inner, 2] if n_inner < len(linkage) else 1.05 * low
    ax.axhline((low + high) / 2, color="0.3", linestyle="--", linewidth=1)
    ax.set(xlabel="pieces, by their cluster", ylabel="height")
    entitle(ax, "Layers")
    plain(ax)
    return ax


def _owners_of_nodes(linkage: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """The cluster that each node of the tree is a part of; -1 for several."""
    found = np.concatenate([owners, np.full(len(linkage), -1)])
    for i, (a, b) in enumerate(linkage[:, :2].astype(int)):
        if found[a] == found[b]:
            found[len(owners) + i] = found[a]
    return found
