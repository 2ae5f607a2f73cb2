"""What a model knows of its table, as one short text."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

from scedae.exceptions import ModelFileError

# No table is described by more: a text that claims to be longer is refused.
_LONGEST = 1 << 26


def to_text(learnt: dict[str, Any]) -> str:
    """JSON, compressed, in letters that a model file can hold."""
    return base64.b64encode(zlib.compress(json.dumps(learnt).encode(), 9)).decode()


def from_text(text: str, field: str = "encoder") -> dict[str, Any]:
    """The reverse, or one clear error; ``field`` must be in it."""
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(base64.b64decode(text, validate=True), _LONGEST)
        found = json.loads(raw)
    except (ValueError, binascii.Error, zlib.error, RecursionError) as error:
        raise ModelFileError("what the model says of its table is damaged.") from error
    if not unpacker.eof or not isinstance(found, dict) or field not in found:
        raise ModelFileError("what the model says of its table is damaged.")
    return found
