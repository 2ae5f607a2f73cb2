"""What the estimators that end in the fused spectral embedding have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from scedae._archive import Archive
from scedae._base import BaseClusterer, FitContext
from scedae._members import MemberSpec
from scedae._persistence import (
    Packed,
    pack_pipeline,
    pack_reports,
    unpack_pipeline,
    unpack_reports,
)
from scedae._pipeline import FittedPipeline, fit_pipeline
from scedae.autoencoder import TrainingOptions
from scedae.rows import Scaler


class SpectralClusterer(BaseClusterer):
    """Runs the pipeline on a list of members and stores what comes back."""

    n_neighbors: int

    def _fit_members(
        self,
        context: FitContext,
        specs: Sequence[MemberSpec],
        scaler: Scaler,
        training: TrainingOptions | None,
        *,
        embedding: str,
        landmark_method: str = "kmeans",
    ) -> None:
        result = fit_pipeline(
            context.rows,
            scaler,
            specs,
            training=training,
            n_clusters=self.n_clusters,
            n_neighbors=int(self.n_neighbors),
            landmark_method=landmark_method,
            embedding=embedding,
            seed=context.seed,
            device=context.device,
            progress=context.progress,
            rows_are_equal=context.statistics.constant,
        )
        self.labels_ = result.labels
        self.embedding_ = result.embedding
        self.members_ = result.reports
        self._store_pipeline(result.pipeline)

    def _store_pipeline(self, pipeline: FittedPipeline) -> None:
        # On the CPU, so that a pickle of it opens anywhere; predicting moves it back.
        self.pipeline_ = pipeline.to(torch.device("cpu"))
        # Copies: a user who changes them must not change the model.
        self.singular_values_ = pipeline.basis.singular_values.copy()
        self.cluster_centers_ = self.pipeline_.centers.numpy().copy()

    def _pack(self) -> Packed:
        info, tensors = pack_pipeline(self.pipeline_)
        return {"pipeline": info, "reports": pack_reports(self.members_)}, tensors

    def _unpack(self, info: dict[str, Any], archive: Archive) -> None:
        self.members_ = unpack_reports(info["reports"])
        self._store_pipeline(
            unpack_pipeline(info["pipeline"], archive, self.n_features_in_)
        )
