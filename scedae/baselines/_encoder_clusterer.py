"""What estimators share whose model is an encoder with centres among its codes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from scedae._autoencoder import Encoder, encode
from scedae._model import MemberReport
from scedae._prepared import Prepared
from scedae._rows import AnyScaler
from scedae._shell.base import BaseClusterer
from scedae._spectral import nearest
from scedae._storage import (
    Archive,
    Packed,
    Record,
    pack_encoder,
    pack_reports,
    pack_scaler,
    unpack_encoder,
    unpack_reports,
    unpack_scaler,
)

# Nobody trains deeper ones; a damaged file may say so.
_MOST_LAYERS = 1000


@dataclass(frozen=True)
class FittedEncoder:
    """Rows are scaled, encoded, and belong to the nearest centre."""

    scaler: AnyScaler
    encoder: Encoder
    centers: torch.Tensor  # (k, e) float64

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """Codes of scaled rows, of shape (n, e)."""
        return encode(self.encoder, rows).double()

    def labels(self, rows: torch.Tensor) -> torch.Tensor:
        """Clusters of scaled rows, of shape (n,)."""
        return nearest(self.coordinates(rows), self.centers)[:, 0]

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


@dataclass(frozen=True)
class EncoderFit:
    """What a fit of these estimators hands over."""

    model: FittedEncoder
    codes: torch.Tensor  # (n, e) of the training rows, float64
    labels: torch.Tensor  # (n,)
    report: MemberReport


class EncoderClusterer(BaseClusterer):
    """Stores a fitted encoder with its centres, and takes it to a file and back."""

    n_clusters: int  # never "auto": there is no spectrum to count by

    members_: tuple[MemberReport, ...]

    def _keep(self, start: Prepared, result: EncoderFit) -> None:
        self.labels_ = result.labels.cpu().numpy()
        self.embedding_ = result.codes.cpu().numpy()
        self.members_ = (result.report,)
        self._store_model(result.model)

    def _store_model(self, model: FittedEncoder) -> None:
        # On the CPU, so that a pickle of it opens anywhere; predicting moves it back.
        self.pipeline_ = model.to(torch.device("cpu"))
        # A copy: a user who changes it must not change the model.
        self.cluster_centers_ = self.pipeline_.centers.numpy().copy()

    def _pack(self) -> Packed:
        info, tensors = pack(self.pipeline_)
        reports, histories = pack_reports(self.members_)
        return {"encoder": info, "reports": reports}, tensors | histories

    def _unpack(self, record: Record, archive: Archive) -> None:
        self.members_ = unpack_reports(record.records("reports"), archive)
        model = unpack(record.record("encoder"), archive, self.n_features_in_)
        self._store_model(model)
