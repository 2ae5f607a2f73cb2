"""The model file: safetensors with JSON in its header, never pickle.

The header holds one entry, ``scedae``: a JSON text with the format version, the name
of the estimator, and everything that is not a tensor. Loading runs no code from the
file and believes nothing in it before it is checked.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from scedae._whole_file import whole_file
from scedae.exceptions import ModelFileError

# 2: members have votes, and the confidence of the training rows is kept.
# 3: directions of the scaler, stability and candidates.
# 4: the metric of the clusters.
FORMAT_VERSION = 4


@dataclass(frozen=True)
class Archive:
    """The content of a model file: named tensors and a JSON-like description."""

    info: dict[str, Any]
    tensors: dict[str, torch.Tensor]

    def tensor(self, name: str, *shape: int | None) -> torch.Tensor:
        """A finite tensor of the given shape (None: any length), or an error."""
        found = self.tensors.get(name)
        if found is None:
            raise ModelFileError(f"the model file lacks the tensor {name!r}.")
        fits = found.dim() == len(shape) and all(
            want is None or want == have
            for want, have in zip(shape, found.shape, strict=True)
        )
        if not fits:
            raise ModelFileError(
                f"tensor {name!r} of the model file has shape {tuple(found.shape)}, "
                f"which does not fit the rest (expected {shape})."
            )
        if not bool(torch.isfinite(found).all()):
            raise ModelFileError(f"tensor {name!r} of the model file is not finite.")
        return found

    def integers(self, name: str) -> torch.Tensor:
        """A vector of whole numbers."""
        found = self.tensor(name, None)
        if found.dtype != torch.int64:
            raise ModelFileError(f"tensor {name!r} of the model file has no integers.")
        return found


def write_archive(path: str | os.PathLike[str], archive: Archive) -> None:
    """Write a model file, all or nothing."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    header = {"scedae": json.dumps({"version": FORMAT_VERSION, **archive.info})}
    tensors = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in archive.tensors.items()
    }
    with whole_file(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=header)
        except SafetensorError as error:
            # A full disk, for one: what every other writer calls an OSError.
            raise OSError(f"{str(path)!r} could not be written: {error}.") from error


def read_archive(path: str | os.PathLike[str]) -> Archive:
    """Read a model file, or refuse it with one clear error."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no model file {str(path)!r}.")
    try:
        with safe_open(path, framework="pt") as file:
            header = (file.metadata() or {}).get("scedae")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        info = json.loads(header) if header is not None else None
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelFileError(
            f"{str(path)!r} is not a scedae model, or it is damaged ({error}). Save "
            "the model again with .save(path)."
        ) from error
    if not isinstance(info, dict):
        raise ModelFileError(f"{str(path)!r} was not written by scedae's .save(path).")
    if info.get("version") != FORMAT_VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format version {info.get('version')}; this version of "
            f"scedae reads {FORMAT_VERSION}. Use the scedae that wrote it, or fit anew."
        )
    return Archive(info, tensors)
