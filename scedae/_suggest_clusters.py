"""How many clusters? The question apart from the clustering."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from scedae._estimator import SCEDAE
from scedae._suggestion import ClusterSuggestion


def suggest_clusters(
    X: Any, *, max_clusters: int = 30, **parameters: Any
) -> ClusterSuggestion:
    """Numbers of clusters that the rows suggest, with the evidence for each.

    The ensemble is trained and fused once; candidates share everything but the last,
    cheap steps. ``SCEDAE(n_clusters="auto")`` does the same and goes on with the best.

    Parameters
    ----------
    X : as in :meth:`SCEDAE.fit`, of shape (n_samples, n_features)
    max_clusters : int, default=30
        The largest number to look at; fewer, if there are not five rows for each.
    **parameters
        Those of :class:`SCEDAE`, but for ``n_clusters``.

    Returns
    -------
    suggestion : ClusterSuggestion
        ``suggestion.n_clusters`` is the best number, ``suggestion.table()`` shows the
        evidence, ``scedae.plot.suggestion(suggestion)`` draws it.

    Warns
    -----
    UnstableClustersWarning
        If no number stands out from what a cloud without clusters would give.

    Examples
    --------
    >>> from scedae import suggest_clusters
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> found = suggest_clusters(X, max_clusters=6, epochs=5, random_state=0)
    >>> found.n_clusters
    4
    """
    if not isinstance(max_clusters, Integral) or max_clusters < 2:
        raise ValueError(f"max_clusters={max_clusters!r} must be an integer >= 2.")
    model = SCEDAE(n_clusters="auto", **parameters)
    model._most_clusters = int(max_clusters)
    return model.fit(X).suggestion_
