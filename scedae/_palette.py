"""Colours of the clusters, for eyes of all kinds, in pictures and on the page.

Ten colours were searched, for a light and for a dark page, such that the two most alike
stay apart for normal sight and under simulated protanopia, deuteranopia and
tritanopia.
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
