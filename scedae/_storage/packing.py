"""Encoders as named tensors and back."""

from __future__ import annotations

import torch

from scedae._autoencoder import Encoder
from scedae._storage.archive import Archive


def pack_encoder(encoder: Encoder, prefix: str) -> dict[str, torch.Tensor]:
    tensors = {}
    for i, (weight, bias) in enumerate(encoder.layers):
        tensors[f"{prefix}.{i}.weight"] = weight
        tensors[f"{prefix}.{i}.bias"] = bias
    return tensors


def unpack_encoder(
    archive: Archive, prefix: str, n_columns: int, n_layers: int
) -> Encoder:
    layers, width = [], n_columns
    for i in range(n_layers):
        weight = archive.tensor(f"{prefix}.{i}.weight", width, None)
        width = weight.shape[1]
        layers.append((weight, archive.tensor(f"{prefix}.{i}.bias", width)))
    return Encoder(tuple(layers))
