"""An encoder with centres among its codes: the model of the k-means family."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from scedae._autoencoder import Encoder, encode
from scedae._rows import Scaler
from scedae._storage.archive import Archive
from scedae._storage.model_file import Packed, pack_scaler, unpack_scaler
from scedae._storage.packing import pack_encoder, unpack_encoder
from scedae._storage.records import Record

# More than any network has: a file with more is damaged.
_MOST_LAYERS = 1000


@dataclass(frozen=True)
class FittedEncoder:
    """Rows are scaled, encoded, and belong to the nearest centre."""

    scaler: Scaler
    encoder: Encoder
    centers: torch.Tensor  # (k, e) float64

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """Codes of scaled rows, of shape (n, e)."""
        return encode(self.encoder, rows).double()

    def to(self, device: torch.device) -> FittedEncoder:
        return replace(
            self,
            scaler=self.scaler.to(device),
            encoder=self.encoder.to(device),
            centers=self.centers.to(device),
        )


def pack(model: FittedEncoder) -> Packed:
    scaler_info, tensors = pack_scaler(model.scaler)
    tensors |= pack_encoder(model.encoder, "encoder")
    tensors["centers"] = model.centers
    return {"scaler": scaler_info, "n_layers": len(model.encoder.layers)}, tensors


def unpack(record: Record, archive: Archive, n_columns: int) -> FittedEncoder:
    scaler = unpack_scaler(record.record("scaler"), archive, n_columns)
    hidden = (None,) * (record.integer("n_layers", 1, _MOST_LAYERS) - 1)
    record.finish()
    encoder = unpack_encoder(archive, "encoder", n_columns, hidden)
    return FittedEncoder(
        scaler=scaler,
        encoder=encoder,
        centers=archive.tensor("centers", None, encoder.encoding_dim),
    )
