"""Colours and marks of the clusters, for eyes of all kinds.

Ten colours were searched, for a light and for a dark page, such that the two most alike
stay apart for normal sight and under simulated protanopia, deuteranopia and
tritanopia. More than ten clusters are told apart by the shape of their marks, and each
cluster has its number on the map: colour never stands alone.
"""

LIGHT = (
    "#2e6fb4",
    "#ec972e",
    "#21a179",
    "#ba3c54",
    "#8a64e6",
    "#7a4817",
    "#d78bb1",
    "#898b1f",
    "#39b5df",
    "#383d6e",
)
DARK = (
    "#5fa5fc",
    "#f59312",
    "#3acb83",
    "#db6b96",
    "#9c75ca",
    "#ba8751",
    "#ffa7bb",
    "#c9d648",
    "#4ed7ea",
    "#f4e3a0",
)

# Above and below the rest, in pictures of differences and the heat map: no cluster's.
ABOVE, BELOW = (150, 30, 110), (20, 110, 105)

SHAPES = ("circle", "diamond", "triangle", "square")


def color(cluster: int) -> int:
    """Number of a cluster's colour."""
    return cluster % len(LIGHT)


def shape(cluster: int) -> str:
    """Shape of a cluster's mark."""
    return SHAPES[cluster // len(LIGHT) % len(SHAPES)]
