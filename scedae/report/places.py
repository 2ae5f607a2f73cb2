"""The map: where each row is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scedae._tsne import tsne

# Fewer rows, or fewer different ones, have no neighbourhoods to keep.
_FEWEST_ROWS = 10

# A cluster that touches no other shrinks to one spot of the embedding. Its rows are
# spread over a disc, or it would look like a single row: distance between them, widest
# radius, and what counts as one spot, all as shares of the map.
_SPACING, _WIDEST, _SPOT = 0.005, 0.05, 0.004


@dataclass(frozen=True)
class Places:
    """One way to draw the rows in the plane."""

    name: str
    note: str
    xy: np.ndarray  # (n, 2)


def all_places(points: np.ndarray, labels: np.ndarray) -> list[Places]:
    """The maps the page offers, the best first, for rows of the embedding (n, q)."""
    maps = [_first_components(points)]
    has_plane = points.shape[1] >= 2 and np.ptp(points, axis=0).max() > 0
    if has_plane and len(np.unique(points, axis=0)) >= _FEWEST_ROWS:
        maps.insert(0, _neighborhoods(points))
    return [_spread(places, labels) for places in maps]


def _spread(places: Places, labels: np.ndarray) -> Places:
    """Rows of one cluster that fall on one spot, as a disc around it."""
    xy = np.array(places.xy, dtype=np.float64)
    extent = max(float(np.ptp(xy, axis=0).max()), 1e-12)
    n_spread = 0
    for label in np.unique(labels):
        mine = np.flatnonzero(labels == label)
        middle = np.median(xy[mine], axis=0)
        spot = mine[np.abs(xy[mine] - middle).max(axis=1) < _SPOT * extent]
        if len(spot) < max(len(mine) / 2, 3):
            continue
        # A sunflower: equal steps along a spiral whose turns never line up.
        steps = np.arange(len(spot))
        radius = extent * min(_SPACING, _WIDEST / np.sqrt(len(spot))) * np.sqrt(steps)
        angle = steps * np.pi * (3 - np.sqrt(5))
        xy[spot] = middle + np.c_[np.cos(angle), np.sin(angle)] * radius[:, None]
        n_spread += 1
    if n_spread == 0:
        return places
    note = f"{places.note} Rows that fall on one spot are spread over a small disc."
    return replace(places, note=note, xy=xy)


def _first_components(points: np.ndarray) -> Places:
    xy = np.zeros((len(points), 2))
    xy[:, : min(points.shape[1], 2)] = points[:, :2]
    note = (
        "The first two coordinates of the embedding, as they are: distances mean "
        "something here, but clusters that differ in later coordinates overlap."
    )
    return Places("First two components", note, xy)


def _neighborhoods(points: np.ndarray) -> Places:
    """t-SNE, which keeps neighbours together."""
    note = (
        "t-SNE of the embedding: rows that are close here are alike. The size of an "
        "island and the distance between islands mean little."
    )
    return Places("t-SNE", note, tsne(points))
