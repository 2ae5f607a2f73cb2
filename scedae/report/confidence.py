"""How sure a row is of its cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist


def center_distances(model: Any) -> np.ndarray:
    """Distance of each training row to each centre, of shape (n, k)."""
    return cdist(model.embedding_, model.cluster_centers_)


def row_confidence(model: Any, distances: np.ndarray) -> np.ndarray:
    """What the model says, or 1 - d₁/d₂ from the two nearest centres; shape (n,)."""
    known = getattr(model, "confidence_", None)
    if known is not None:
        return np.asarray(known)
    if distances.shape[1] == 1:
        return np.ones(len(distances))
    nearest = np.partition(distances, 1, axis=1)[:, :2]
    # A row that sits on two centres at once is sure of neither.
    safe = np.where(nearest[:, 1] > 0, nearest[:, 1], 1)
    return np.where(nearest[:, 1] > 0, 1 - nearest[:, 0] / safe, 0.0)
