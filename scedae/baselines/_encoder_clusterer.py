"""What estimators share whose model is an encoder with centres among its codes."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from scedae._model import MemberReport
from scedae._prepared import Prepared
from scedae._shell.base import BaseClusterer
from scedae._storage.archive import Archive
from scedae._storage.model_file import Packed, pack_reports, unpack_reports
from scedae._storage.records import Record
from scedae.baselines._model import FittedEncoder, pack, unpack


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
