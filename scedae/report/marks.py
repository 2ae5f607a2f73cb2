"""Colours and shapes of the clusters on the page.

More than ten clusters are told apart by the shape of their marks, and each cluster has
its number on the map: colour never stands alone.
"""

from __future__ import annotations

from scedae._palette import DARK, LIGHT

__all__ = ["ABOVE", "BELOW", "DARK", "LIGHT", "SHAPES", "color", "shape"]

SHAPES = ("circle", "diamond", "triangle", "square")

# Above and below the rest, in pictures of differences and the heat map: no cluster's.
ABOVE, BELOW = (150, 30, 110), (20, 110, 105)


def color(cluster: int) -> int:
    """Number of a cluster's colour."""
    return cluster % len(LIGHT)


def shape(cluster: int) -> str:
    """Shape of a cluster's mark."""
    return SHAPES[cluster // len(LIGHT) % len(SHAPES)]
