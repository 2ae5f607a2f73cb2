"""Rows that are square pictures, and one sheet that holds all of them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from scedae.report.png import data_uri, encode_png
from scedae.report.source import NamedRows

# Rows looked at to tell pictures from tables.
_LOOKED_AT = 500
_FEWEST_PIXELS = 16
# Neighbouring pixels differ less than two pixels drawn at random, in both directions:
# by 0.76 and 0.45 on 8 x 8 digits, 0.2 to 0.5 on larger pictures, where tables of 16
# columns (pen positions, letters) have 0.92 to 1.17.
_NEIGHBOR_RATIO = 0.9
# Names that say nothing against pictures: "pixel12", "pixel_3_4", "17".
_PIXEL_NAME = re.compile(r"(p|px|pix|pixel)?[\W_]*\d+([\W_x]+\d+)?", re.IGNORECASE)

# A tile shows at most this many pixels a side, the sheet takes at most so many bytes.
_WIDEST_TILE = 32
_LARGEST_SHEET = 2_500_000
_LEVELS = 16


@dataclass(frozen=True)
class Sheet:
    """All pictures side by side in one image; a picture is a place on it."""

    uri: str
    across: int  # tiles in a line
    down: int  # lines
    side: int  # pixels of a tile

    @property
    def thumbnail_times(self) -> int:
        """Factor by which a tile is drawn in a row of small pictures."""
        return max(round(44 / self.side), 1)

    @property
    def large_times(self) -> int:
        """Factor by which a tile is drawn beside the pointer."""
        return max(round(112 / self.side), 1)

    def place(self, number: int) -> tuple[int, int]:
        """Column and line of a tile."""
        return number % self.across, number // self.across


def picture_side(source: NamedRows) -> int | None:
    """Pixels a side if rows look like square pictures, else None."""
    side = math.isqrt(source.n_columns)
    if side * side != source.n_columns or source.n_columns < _FEWEST_PIXELS:
        return None
    if source.columns_are_named and not all(
        _PIXEL_NAME.fullmatch(name) for name in source.columns
    ):
        return None
    step = max(source.n_rows // _LOOKED_AT, 1)
    rows = source.take(slice(None, None, step))
    return side if rows.min() >= 0 and _neighbors_are_alike(rows, side) else None


def _neighbors_are_alike(rows: np.ndarray, side: int) -> bool:
    pictures = rows.reshape(-1, side, side)
    across = np.abs(np.diff(pictures, axis=2)).mean()
    down = np.abs(np.diff(pictures, axis=1)).mean()
    shuffled = rows[:, np.random.default_rng(0).permutation(side * side)]
    at_random = np.abs(np.diff(shuffled, axis=1)).mean()
    return bool(max(across, down) < _NEIGHBOR_RATIO * at_random)


def picture_sheet(rows: np.ndarray, side: int) -> Sheet:
    """The rows as gray tiles, large values bright, small enough for the page."""
    low, high = rows.min(), rows.max()
    tiles = (rows.reshape(-1, side, side) - low) / max(high - low, 1e-300)
    tiles = _shrink(tiles, math.ceil(side / _WIDEST_TILE))
    across = math.ceil(math.sqrt(len(tiles)))
    while True:
        png = encode_png(_tiled(_levels(tiles), across))
        if len(png) <= _LARGEST_SHEET:
            down = math.ceil(len(tiles) / across)
            return Sheet(data_uri(png), across, down, tiles.shape[1])
        tiles = _shrink(tiles, 2)


def gray_picture(row: np.ndarray, side: int, low: float, high: float) -> str:
    """One row as a gray picture."""
    picture = (row.reshape(side, side) - low) / max(high - low, 1e-300)
    return data_uri(encode_png((255 * picture).round().astype(np.uint8)))


def signed_picture(
    row: np.ndarray, side: int, above: tuple[int, int, int], below: tuple[int, int, int]
) -> str:
    """Positive and negative numbers in two colours, zero transparent."""
    values = row.reshape(side, side)
    strength = np.abs(values) / max(np.abs(values).max(), 1e-300)
    pixels = np.empty((side, side, 4), dtype=np.uint8)
    pixels[..., :3] = np.where((values > 0)[..., None], above, below)
    pixels[..., 3] = (255 * strength).round()
    return data_uri(encode_png(pixels))


def _levels(tiles: np.ndarray) -> np.ndarray:
    """Few levels of gray: enough for a small picture, and they compress well."""
    return ((tiles * (_LEVELS - 1)).round() * (255 // (_LEVELS - 1))).astype(np.uint8)


def _shrink(tiles: np.ndarray, factor: int) -> np.ndarray:
    """Means over squares of ``factor`` pixels; the edge is repeated to fill up."""
    if factor == 1:
        return tiles
    rest = -tiles.shape[1] % factor
    filled = np.pad(tiles, ((0, 0), (0, rest), (0, rest)), mode="edge")
    side = filled.shape[1] // factor
    return filled.reshape(-1, side, factor, side, factor).mean(axis=(2, 4))


def _tiled(tiles: np.ndarray, across: int) -> np.ndarray:
    """Tiles of shape (n, s, s) as one image of ``across`` tiles a line."""
    count, side = tiles.shape[:2]
    down = math.ceil(count / across)
    sheet = np.zeros((down * across, side, side), dtype=np.uint8)
    sheet[:count] = tiles
    lines = sheet.reshape(down, across, side, side).transpose(0, 2, 1, 3)
    return lines.reshape(down * side, across * side)
