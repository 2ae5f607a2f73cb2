"""Pixels as a PNG in a data URI: enough of the format to need no library."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

_GRAY, _RGBA = 0, 6
# Level 9 makes a sheet of pictures 5 % smaller in eight times the seconds.
_COMPRESSION = 6


def encode_png(pixels: np.ndarray) -> bytes:
    """Gray pixels of shape (h, w) or RGBA of shape (h, w, 4), as uint8."""
    height, width = pixels.shape[:2]
    kind = _GRAY if pixels.ndim == 2 else _RGBA
    # Each line starts with a zero: no filter.
    lines = np.zeros((height, 1 + pixels[0].size), dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), _COMPRESSION))
        + _chunk(b"IEND", b"")
    )


def data_uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _chunk(name: bytes, content: bytes) -> bytes:
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
