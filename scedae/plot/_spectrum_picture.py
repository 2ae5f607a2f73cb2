"""The singular values: how many clusters the rows suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scedae.plot._canvas import axes_for, colors, entitle, plain, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def spectrum(model: Any, *, ax: Axes | None = None) -> Axes:
    """Singular values of the fused affinity, with the chosen k marked.

    As many values near 1 as clusters that hang together. A drop to the right of the
    line supports the chosen number; a drop elsewhere suggests another one.

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
    >>> ax = plot.spectrum(model)
    >>> ax.get_title(loc="left")
    'Singular values'
    """
    require(model, "singular_values_")
    ax = axes_for(ax, 6, 3.5)
    from matplotlib.ticker import MaxNLocator

    # The trivial value 1 of the constant vector is not stored, but counts.
    values = np.concatenate([[1.0], model.singular_values_])
    place = np.arange(1, len(values) + 1)
    k = len(model.cluster_centers_)
    ax.plot(place, values, color="0.75", zorder=1)
    ax.scatter(place[:k], values[:k], color=colors(1)[0], label=f"the first {k}")
    ax.scatter(place[k:], values[k:], color="0.6")
    ax.axvline(k + 0.5, color="0.3", linestyle="--", label=f"k = {k}")
    ax.set(xlabel="number", ylabel="singular value")
    entitle(ax, "Singular values")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    plain(ax)
    return ax
