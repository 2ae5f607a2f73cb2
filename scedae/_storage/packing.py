"""Encoders as named tensors and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from scedae._autoencoder import Encoder
from scedae._storage.archive import Archive

# Beyond any weight that a training ends with.
_LARGEST = 1e9


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
        limits: Any = {"dtype": torch.float32, "least": -_LARGEST, "most": _LARGEST}
        weight = archive.tensor(f"{name}.weight", width, wanted, **limits)
        width = weight.shape[1]
        bias = archive.tensor(f"{name}.bias", width, **limits)
        layers.append((weight, bias))
    return Encoder(tuple(layers))
