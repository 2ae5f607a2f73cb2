"""What was learnt as named tensors and a description; model files and checkpoints.

The description is JSON: the format version, the name of the estimator, and everything
that is no tensor. Loading runs no code from the file and believes nothing in it before
it is checked. ``docs/model-files.md`` is the specification.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from scedae._autoencoder import Encoder
from scedae._storage.container import pack_container, read_bytes, unpack_container
from scedae._version import __version__
from scedae._whole_file import whole_file
from scedae.exceptions import ModelFileError

# 4: the metric of the clusters.
# 5: a checksum, the version that wrote the file, and histories as tensors.
# Optional fields and tensors need no new version: a file without them loads, and who
# does not know them says which scedae does.
FORMAT_VERSION = 5
_OLDEST_VERSION = 4

_TEXT = "scedae"

# Shares are sums: some end above one by their last bits.
_ROUNDING = 1e-6

# Products and squares of such numbers are finite.
_LARGEST = 1e50
# Beyond any weight that a training ends with.
_LARGEST_WEIGHT = 1e9


@dataclass(frozen=True)
class Archive:
    """Named tensors and a description, out of a file or on the way into one."""

    info: dict[str, Any]
    tensors: dict[str, torch.Tensor]
    version: int = FORMAT_VERSION
    writer: str = __version__  # the scedae that wrote the file
    _read: set[str] = field(default_factory=set)

    def tensor(
        self,
        name: str,
        *shape: int | None,
        dtype: torch.dtype = torch.float64,
        least: float = -_LARGEST,
        most: float = _LARGEST,
        finite: bool = True,
    ) -> torch.Tensor:
        """A tensor of the given shape (None: any length) and range, or an error."""
        found = self.any_tensor(name)
        _require_shape(name, found, shape)
        if found.dtype != dtype:
            raise ModelFileError(f"tensor {name!r} has numbers of type {found.dtype}")
        if not finite:
            return found
        if not bool(torch.isfinite(found).all()):
            raise ModelFileError(f"tensor {name!r} is not finite")
        if float(found.min()) < least or float(found.max()) > most:
            raise ModelFileError(f"tensor {name!r} has numbers beyond its range")
        return found

    def any_tensor(self, name: str) -> torch.Tensor:
        """A tensor whose taker knows what it must be."""
        if name not in self.tensors:
            raise ModelFileError(f"it lacks the tensor {name!r}")
        self._read.add(name)
        return self.tensors[name]

    def shares(self, name: str, *shape: int | None) -> torch.Tensor:
        """Numbers from 0 to 1."""
        return self.tensor(name, *shape, least=0, most=1 + _ROUNDING)

    def finish(self) -> None:
        """An error if there are tensors that nobody asked for."""
        if unknown := sorted(self.tensors.keys() - self._read):
            raise ModelFileError(f"it has a tensor that nothing needs: {unknown[0]!r}")


def _require_shape(
    name: str, found: torch.Tensor, shape: tuple[int | None, ...]
) -> None:
    fits = found.dim() == len(shape) and all(
        want is None or want == have
        for want, have in zip(shape, found.shape, strict=True)
    )
    if not fits or 0 in found.shape:
        raise ModelFileError(
            f"tensor {name!r} has shape {tuple(found.shape)}, which does not fit the "
            f"rest (expected {shape})"
        )


def write_archive(
    path: str | os.PathLike[str],
    info: Mapping[str, Any],
    tensors: Mapping[str, torch.Tensor],
) -> None:
    """Write a file, all or nothing."""
    about = {"version": FORMAT_VERSION, "written_by": __version__, **info}
    raw = pack_container(tensors, {_TEXT: json.dumps(about)})
    with whole_file(path) as temporary:
        temporary.write_bytes(raw)


def read_archive(path: str | os.PathLike[str]) -> Archive:
    """Read a file, or refuse it with one clear error."""
    try:
        return unpack_archive(read_bytes(path))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no model file {str(path)!r}.") from error
    except ModelFileError as error:
        raise ModelFileError(
            f"{str(path)!r} is not a scedae model that can be read: {error}."
        ) from error


def unpack_archive(raw: bytearray) -> Archive:
    """The same from the bytes of a file."""
    container = unpack_container(raw)
    text = container.texts.pop(_TEXT, None)
    if text is None or container.texts:
        raise ModelFileError("it was not written by scedae's .save(path)")
    info = container.allowance.parse(text)
    version, writer = info.pop("version", None), info.pop("written_by", None)
    _require_version(version, writer)
    if version >= 5 and not container.checked:
        raise ModelFileError("it is damaged: its checksum is gone")
    return Archive(info, container.tensors, version, _shown(writer))


def _require_version(version: object, writer: object) -> None:
    if isinstance(version, bool) or not isinstance(version, int):
        raise ModelFileError("its description has no format version")
    if version < _OLDEST_VERSION:
        raise ModelFileError(
            f"it has format version {version}, from before the first release; fit anew "
            "and save again"
        )
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"it has format version {version}, and this is scedae {__version__}, which "
            f"reads up to {FORMAT_VERSION}; install scedae {_shown(writer)} or newer"
        )


def _shown(writer: object) -> str:
    """The version in a file, if it looks like one: it goes into a message."""
    known = isinstance(writer, str) and re.fullmatch(r"[\w.+-]{1,40}", writer, re.ASCII)
    return str(writer) if known else "of its writer"


def pack_encoder(encoder: Encoder, prefix: str) -> dict[str, torch.Tensor]:
    tensors = {}
    for i, (weight, bias) in enumerate(encoder.layers):
        tensors[f"{prefix}.{i}.weight"] = weight
        tensors[f"{prefix}.{i}.bias"] = bias
    return tensors


def unpack_encoder(
    archive: Archive,
    prefix: str,
    n_columns: int,
    hidden_layers: Sequence[int | None],
) -> Encoder:
    """An encoder of these hidden widths (None: any); the code is as wide as found."""
    layers, width = [], n_columns
    for i, wanted in enumerate((*hidden_layers, None)):
        name = f"{prefix}.{i}"
        limits: Any = {
            "dtype": torch.float32,
            "least": -_LARGEST_WEIGHT,
            "most": _LARGEST_WEIGHT,
        }
        weight = archive.tensor(f"{name}.weight", width, wanted, **limits)
        width = weight.shape[1]
        bias = archive.tensor(f"{name}.bias", width, **limits)
        layers.append((weight, bias))
    return Encoder(tuple(layers))
