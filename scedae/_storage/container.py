"""Named tensors and some texts in one file: safetensors, with a checksum.

Any reader of safetensors can read such a file. It is read here without that library,
which opens a file twice and so may see two files where one is being replaced, and with
suspicion: a file makes the reader allocate four times its size at most (or 16 MB, if
that is more), whatever it says of itself. ``docs/model-files.md`` has the layout.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from scedae._storage.records import Record, plain_object
from scedae.exceptions import ModelFileError

_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
}
_MOST_DIMENSIONS = 4
_LONGEST = 2**40

# The digest is taken with zeros in its own place.
_CHECKSUM = "sha256"
_BLANK = "0" * 64
_PLACE = re.compile(rb'"sha256":"([0-9a-f]{64})"')

# Small files may cost more than four times their size: an object of Python is larger
# than its two brackets.
_ALWAYS_ALLOWED = 16 << 20
# At most this many bytes are allocated for each mark of JSON that begins a value.
_BYTES_A_VALUE = 72
_BYTES_A_TENSOR = 1000


@dataclass(frozen=True)
class Container:
    """What a file holds, before anything in it is believed."""

    texts: dict[str, str]
    tensors: dict[str, torch.Tensor]
    checked: bool  # whether there was a checksum; a wrong one is an error
    allowance: Allowance  # for those who make something of the texts


def pack_container(
    tensors: Mapping[str, torch.Tensor], texts: Mapping[str, str]
) -> bytes:
    """The bytes of a file."""
    from safetensors.torch import save

    plain = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    blank = save(plain, metadata={**texts, _CHECKSUM: _BLANK})
    # Quotes inside a text are escaped: this place is the checksum's own.
    return blank.replace(
        f'"{_CHECKSUM}":"{_BLANK}"'.encode(),
        f'"{_CHECKSUM}":"{hashlib.sha256(blank).hexdigest()}"'.encode(),
        1,
    )


def read_bytes(path: str | os.PathLike[str]) -> bytearray:
    """All bytes of a file through one open: of the former one or of the new one."""
    with open(path, "rb", buffering=0, opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError("it is no plain file")
        raw = bytearray(found.st_size)
        view, done = memoryview(raw), 0
        while done < len(raw) and (n := file.readinto(view[done:])):
            done += n
        view.release()
        del raw[done:]
    return raw


def _without_waiting(path: str, flags: int) -> int:
    # A pipe that nobody writes into would never open.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def unpack_container(raw: bytearray) -> Container:
    """What the bytes of a file say; tensors lie in these bytes, without a copy."""
    begin = 8 + struct.unpack("<Q", raw[:8])[0] if len(raw) >= 8 else 0
    if not 8 < begin <= len(raw):
        raise ModelFileError("it is no file of safetensors, or it is cut")
    allowance = Allowance(len(raw))
    text = _ascii(memoryview(raw)[8:begin])
    allowance.take(len(text))
    header = allowance.parse(text)
    texts = header.pop("__metadata__", {})
    if not isinstance(texts, dict) or not all(
        isinstance(value, str) for value in texts.values()
    ):
        raise ModelFileError("its header has no texts")
    checksum = texts.pop(_CHECKSUM, None)
    if checksum is not None:
        _verify(raw, begin)
    allowance.take(_BYTES_A_TENSOR * len(header))
    tensors = _tensors(raw, begin, header)
    return Container(texts, tensors, checksum is not None, allowance)


def _verify(raw: bytearray, begin: int) -> None:
    found = list(_PLACE.finditer(raw, 8, begin))
    if len(found) != 1:
        raise ModelFileError("its checksum is damaged")
    place = found[0]
    digest = hashlib.sha256(memoryview(raw)[: place.start(1)])
    digest.update(_BLANK.encode())
    digest.update(memoryview(raw)[place.end(1) :])
    if digest.hexdigest().encode() != place[1]:
        raise ModelFileError("it is not as it was written: its checksum is wrong")


class Allowance:
    """How much memory a file may still cost."""

    def __init__(self, size: int) -> None:
        self._left = max(3 * size, _ALWAYS_ALLOWED)

    def take(self, n_bytes: int) -> None:
        self._left -= n_bytes
        if self._left < 0:
            raise ModelFileError("its description is out of all proportion to it")

    def parse(self, text: str) -> dict[str, Any]:
        """An object of JSON, if what becomes of the text stays within bounds."""
        self.take(len(text) + _BYTES_A_VALUE * sum(map(text.count, "[{,:")))
        return _parse(text)


def _parse(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=plain_object)
    except (ValueError, RecursionError) as error:
        raise ModelFileError("its description is no JSON") from error
    if not isinstance(found, dict):
        raise ModelFileError("its description is no object")
    return found


def _ascii(raw: memoryview) -> str:
    try:
        return str(raw, "ascii")
    except UnicodeDecodeError as error:
        raise ModelFileError("its header is no plain text") from error


def _tensors(
    raw: bytearray, begin: int, header: dict[str, Any]
) -> dict[str, torch.Tensor]:
    """Tensors by name; together they are all that follows the header."""
    entries = {name: _Entry(name, info) for name, info in header.items()}
    ends = sorted((entry.begin, entry.end) for entry in entries.values())
    edges = [(0, 0), *ends, (len(raw) - begin, len(raw) - begin)]
    if any(former[1] != following[0] for former, following in pairwise(edges)):
        raise ModelFileError("its tensors overlap, or are cut")
    return {name: entry.tensor(raw, begin) for name, entry in entries.items()}


class _Entry:
    """What a header says of one tensor."""

    def __init__(self, name: str, content: object) -> None:
        record = Record(content, f"the entry of tensor {name!r}")
        self.dtype = _DTYPES[record.choice("dtype", _DTYPES)]
        self.shape = record.integers("shape")
        places = record.integers("data_offsets")
        record.finish()
        size = math.prod(self.shape) * self.dtype.itemsize
        odd = (
            len(self.shape) > _MOST_DIMENSIONS or max(self.shape, default=0) > _LONGEST
        )
        if odd or len(places) != 2 or places[1] - places[0] != size:
            raise ModelFileError(f"tensor {name!r} has another size than its shape")
        self.begin, self.end = places

    def tensor(self, raw: bytearray, begin: int) -> torch.Tensor:
        if self.begin == self.end:
            return torch.empty(self.shape, dtype=self.dtype)
        if (begin + self.begin) % self.dtype.itemsize:
            raise ModelFileError("its tensors do not lie where numbers can lie")
        count = (self.end - self.begin) // self.dtype.itemsize
        flat = torch.frombuffer(
            raw, dtype=self.dtype, count=count, offset=begin + self.begin
        )
        return flat.reshape(self.shape)
