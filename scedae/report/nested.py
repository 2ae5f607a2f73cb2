"""Coarser and finer clusters of the same fit, for the map and in words."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

# More clusters than this cannot be told apart on a map.
_MOST_CLUSTERS = 40


def pack_layers(model: Any, sample: np.ndarray) -> dict[str, Any] | None:
    """What the slider reads: the piece of each point, and names of pieces by layer.

    None for a model without layers.
    """
    if not hasattr(model, "linkage_"):
        return None
    most = min(len(model.linkage_) + 1, _MOST_CLUSTERS)
    if most < 3 or model.n_clusters_ > most:
        return None
    pieces = model.labels_at(most)
    _, first = np.unique(pieces, return_index=True)
    names = [model.labels_at(n)[first].tolist() for n in range(2, most + 1)]
    return {
        "pieces": base64.b64encode(pieces[sample].astype("u1").tobytes()).decode(),
        "names": names,
        "own": model.n_clusters_,
        "most": most,
    }


def other_numbers(model: Any) -> str | None:
    """Which other numbers of clusters are stable; None where nothing is known."""
    layers = getattr(model, "layers_", ())
    others = [each for each in layers if each.n_clusters != model.n_clusters_]
    if not others:
        return None
    told = ", ".join(f"{each.n_clusters} ({each.stability:.2f})" for each in others)
    first = others[0].n_clusters
    return (
        "Merged or split, without another fit, these clusters hold at other numbers "
        f"too, by their stability in brackets: {told}. The slider above the map shows "
        f"them; model.labels_at({first}) gives the rows in {first} clusters."
    )
