"""What the estimators that end in the fused spectral embedding have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from scedae._anchoring import Tail
from scedae._defaults import MOST_CLUSTERS, Refining, Scale
from scedae._model import (
    ROW_RESULTS,
    FittedPipeline,
    answer_rows,
    assign_rows,
    novelty_of,
    probabilities_of,
)
from scedae._pipeline import PipelineFit, fit_pipeline
from scedae._prepared import Prepared
from scedae._rows import Result, Rows, ViewScaler
from scedae._shell.applying import ModelKernel
from scedae._shell.base import BaseClusterer
from scedae._shell.viewing import check_views_fit
from scedae._spectral import (
    MOST_REJECTED,
    Candidate,
    GraphCandidate,
    Tree,
    candidates_for,
    confidence_at,
    doubt_quantiles,
)
from scedae._storage import (
    Archive,
    Packed,
    Record,
    pack_pipeline,
    pack_refinement,
    pack_reports,
    unpack_candidate,
    unpack_graph,
    unpack_layer,
    unpack_pipeline,
    unpack_refinement,
    unpack_reports,
)
from scedae._suggestion import ClusterSuggestion
from scedae._validation import check_landmarks, warn_if_unstable
from scedae._views import warn_if_left_out
from scedae.exceptions import ModelFileError, NotLearntError


class SpectralClusterer(BaseClusterer):
    """Runs the pipeline on a list of members and stores what comes back."""

    _learns_from_streams = True
    _learns_from_views = True

    _most_clusters = MOST_CLUSTERS

    n_neighbors: int | str
    embedding: str
    landmarks = "kmeans"  # how they are chosen; LandmarkSpectralClustering may ask

    def _run(self, start: Prepared) -> PipelineFit:
        for n_landmarks in {spec.n_landmarks for spec in start.all_specs}:
            check_landmarks(n_landmarks, start.rows.n_rows, self.n_clusters)
        tail = Tail(
            self._scales(),
            self.embedding,
            self.landmarks,
            refining=self._refining(start.rows),
            keeps_views=self._keeps_views,
        )
        return fit_pipeline(start, self._numbers(start), tail)

    @property
    def _keeps_views(self) -> bool:
        """Whether no view may be left out; else one that the others are better off
        without."""
        return False

    def _refining(self, rows: Rows) -> Refining | None:
        """How the answer is refined; None: not at all."""
        return None

    def _scales(self) -> tuple[Scale, ...]:
        """Of the graphs to choose from: one, unless an estimator knows more."""
        return (Scale(int(self.n_neighbors)),)

    def _numbers(self, start: Prepared) -> int | range:
        """The number of clusters, or those to choose from."""
        if not isinstance(self.n_clusters, str):
            return int(self.n_clusters)
        n_landmarks = min(spec.n_landmarks for spec in start.all_specs)
        return candidates_for(start.rows.n_rows, n_landmarks, self._most_clusters)

    def _keep(self, start: Prepared, result: PipelineFit) -> None:
        self.labels_ = result.labels
        self._store_or_drop("embedding_", result.embedding)
        self._store_or_drop("probabilities_", result.probabilities)
        self._store_or_drop("_pieces", result.pieces)
        self.layers_ = result.layers
        self.confidence_ = result.confidence
        self.members_ = result.reports
        self._store_agreement(result.member_agreement)
        self._store_views(result.pipeline)
        self._store_pipeline(result.pipeline)
        self.stability_ = result.stability
        self._store_candidates(result.candidates)
        self.candidates_ = result.graphs
        self.refinement_ = result.refinement
        warn_if_left_out(getattr(self, "views_", {}).values())
        if not start.rows_are_equal:  # a warning of its own follows
            warn_if_unstable(
                len(result.pipeline.centers),
                result.stability,
                result.kmeans_margin,
                clear=self.suggestion_.clear if result.candidates else None,
            )

    def predict(
        self,
        X: Any,
        *,
        out: str | os.PathLike[str] | None = None,
        reject: float | None = None,
        layer: int | None = None,
    ) -> Any:
        """The cluster of each row, by the road the training rows took.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)
        out : path, default=None
            An .npy file to write; it appears when it is complete. Not for Dask.
        reject : float from 0 to 0.5, default=None
            Rows get -1 that are less sure than this share of the training rows was
            (see :meth:`predict_confidence`): of the training rows that share, of new
            ones more or fewer. None and 0 reject nobody.
        layer : int, default=None
            Number of clusters to put the rows into, as in :meth:`labels_at`; None is
            that of the fit.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A lazy Dask array for a Dask collection. For a file too large to be
            brought into memory, or with ``out``, a memory-mapped one (without ``out``
            of a temporary file that vanishes with it).
        """
        kernel = self._assigning(reject, layer)
        if kernel is assign_rows:
            return super().predict(X, out=out)
        return self._apply(X, kernel, ROW_RESULTS, out)[0]

    def predict_with_confidence(
        self, X: Any, *, reject: float | None = None, layer: int | None = None
    ) -> tuple[Any, Any]:
        """Clusters of the rows and how sure they are, by one walk over the rows.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)
        reject : float from 0 to 0.5, default=None
        layer : int, default=None
            As in ``predict``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            As from ``predict``.
        confidence : ndarray of shape (n_samples,)
            As from ``predict_confidence``.
        """
        labels, confidence = self._apply(X, self._assigning(reject, layer), ROW_RESULTS)
        return labels, confidence

    def _assigning(self, reject: float | None, layer: int | None) -> ModelKernel:
        """What gives rows their labels and confidence."""
        share = self._share_to_reject(reject)
        if layer is not None:
            self._check_layer(layer)
        if not share and layer is None:
            return assign_rows
        return partial(answer_rows, layer, self._threshold(share))

    def _threshold(self, share: float) -> float:
        """Confidence below which such a share of the training rows lies."""
        if share == 0:
            return 0.0
        check_is_fitted(self, "pipeline_")
        doubt = self.pipeline_.doubt
        if doubt is None and hasattr(self, "confidence_"):  # a file from before
            doubt = doubt_quantiles(self.confidence_)
        if doubt is None:
            raise NotLearntError(
                "this model cannot reject rows: it was written by a scedae that did "
                "not learn how sure rows usually are. Fit again."
            )
        return confidence_at(doubt, share)

    @staticmethod
    def _share_to_reject(reject: float | None) -> float:
        if reject is None:
            return 0.0
        number = isinstance(reject, Real) and not isinstance(reject, bool)
        if not number or not 0 <= reject <= MOST_REJECTED:
            raise ValueError(
                f"reject={reject!r} must be a share of the rows, from 0 to "
                f"{MOST_REJECTED}."
            )
        return float(reject)

    def novelty_score(
        self, X: Any, *, out: str | os.PathLike[str] | None = None
    ) -> Any:
        """How unlike every training row each row is: 1 is usual, more is farther.

        The distance to the nearest landmark, over what is usual around there, as a
        mean over the members; those on the rows themselves count five times, since a
        code may drop what is new. Half of the training rows have less than 1. Unlike
        confidence, which is small between two clusters, this is large outside of all.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)
        out : path, default=None
            As in ``predict``.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            At least 0. Lazy or memory-mapped as in ``predict``.
        """
        check_is_fitted(self, "pipeline_")
        if any(member.usual is None for member in self.pipeline_.members):
            raise NotLearntError(
                "this model cannot tell new rows: it was written by a scedae that did "
                "not learn how far rows usually lie. Fit again."
            )
        (found,) = self._apply(X, novelty_of, [Result(np.float64)], out)
        return found

    def predict_confidence(self, X: Any) -> Any:
        """How sure the cluster of each row is: near 0 doubtful, near 1 clear.

        The geometric mean of two numbers. The *margin* is 1 - d1 / d2, with the
        distances to the nearest and the second nearest centre in the embedding; where
        the answer was refined, the geometric mean of that and of 1 - p2 / p1, with the
        chances of the network's two best clusters. The
        *agreement* is what the members give to the row's cluster: each looks at the
        row's nearest landmarks and at the clusters of the training rows near those.
        A row is doubtful when either is small. The numbers put rows in order; they
        are not probabilities.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)

        Returns
        -------
        confidence : ndarray of shape (n_samples,)
            In [0, 1]; for the training rows exactly ``confidence_``.
        """
        return self.predict_with_confidence(X)[1]

    def predict_proba(
        self, X: Any, *, out: str | os.PathLike[str] | None = None
    ) -> Any:
        """The chance of each cluster, for each row.

        Calibrated without labels. The chance of a row's own cluster says how often
        rows of its confidence are put into the same cluster by halves of the ensemble
        that never saw the rest of it (and what the members near the row agree to). The
        rest is dealt out to the other clusters by the row's neighbours as the members
        see them. So the chances tell how far another ensemble would agree; where all
        of them agree on clusters that are not the classes you think of, no
        calibration without labels can know.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)
        out : path, default=None
            As in ``predict``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            Rows sum to one, and the largest of each is that of ``predict``; for the
            training rows exactly ``probabilities_``. Lazy or memory-mapped as in
            ``predict``.
        """
        check_is_fitted(self, "pipeline_")
        pipeline: FittedPipeline = self.pipeline_
        if pipeline.calibration is None:
            raise NotLearntError(
                "this model has no probabilities: it was written by a scedae that did "
                "not learn them. Fit again; predict_confidence works as it did."
            )
        wide = Result(np.float64, len(pipeline.centers))
        (found,) = self._apply(X, probabilities_of, [wide], out)
        return found

    def labels_at(self, n_clusters: int) -> np.ndarray:
        """The training rows in another number of clusters, without a new fit.

        Layers are nested: each cluster of one is a union of clusters of any finer one.
        That of the fit is ``labels_``. ``linkage_`` has the whole tree, ``layers_``
        the numbers that are worth a look, ``predict(X, layer=…)`` the same for new
        rows.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of leaves of the tree, ``len(linkage_) + 1``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        tree = self._check_layer(n_clusters)
        if not hasattr(self, "_pieces"):
            raise NotLearntError(
                "the rows of this fit did not lie in memory: ask for their layer with "
                f"predict(X, layer={n_clusters})."
            )
        found: np.ndarray = tree.names(int(n_clusters))[self._pieces]
        return found

    def _check_layer(self, n_clusters: int) -> Tree:
        """The tree, if it has a layer of so many clusters."""
        check_is_fitted(self, "pipeline_")
        tree: Tree | None = self.pipeline_.tree
        if tree is None:
            raise NotLearntError(
                "this model has no layers: it was written by a scedae that did not "
                "know them, or all its rows are equal. Fit again."
            )
        number = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
        if not number or not 1 <= n_clusters <= tree.n_pieces:
            raise ValueError(
                f"there is no layer of {n_clusters!r} clusters: this fit has those of "
                f"1 to {tree.n_pieces}."
            )
        return tree

    def _store_or_drop(self, name: str, value: Any) -> None:
        """What a fit may lack must not be left of an earlier one."""
        if value is None:
            self.__dict__.pop(name, None)
        else:
            setattr(self, name, value)

    def _store_agreement(self, agreement: np.ndarray) -> None:
        """In the order of ``members_``; one that took no part has none."""
        took_part = [report.took_part for report in self.members_]
        self.member_agreement_ = np.full(len(self.members_), np.nan)
        self.member_agreement_[took_part] = agreement

    def _store_views(self, pipeline: FittedPipeline) -> None:
        """What each view gives to the answer, by its members."""
        if not isinstance(pipeline.scaler, ViewScaler):
            return
        shares: dict[str, list[float]] = {name: [] for name in self.views_}
        pairs = zip(self.members_, self.member_agreement_, strict=True)
        for report, share in pairs:
            if report.spec.view is not None and np.isfinite(share):
                shares[report.spec.view].append(float(share))
        self.views_ = {
            name: replace(
                view,
                left_out=name not in pipeline.scaler.names,
                n_members=len(shares[name]),
                agreement=float(np.mean(shares[name] or [np.nan])),
            )
            for name, view in self.views_.items()
        }

    def _store_pipeline(self, pipeline: FittedPipeline) -> None:
        # On the CPU, so that a pickle of it opens anywhere; predicting moves it back.
        self.pipeline_ = pipeline.to(torch.device("cpu"))
        # Copies: a user who changes them must not change the model.
        self.singular_values_ = pipeline.basis.singular_values.copy()
        self.cluster_centers_ = self.pipeline_.centers.numpy().copy()
        tree = pipeline.tree
        self._store_or_drop("linkage_", None if tree is None else tree.linkage.copy())

    def _store_candidates(self, candidates: Sequence[Candidate]) -> None:
        if candidates:
            self.suggestion_ = ClusterSuggestion(tuple(candidates))
        else:  # of an earlier fit, perhaps
            self.__dict__.pop("suggestion_", None)

    def _pack(self) -> Packed:
        info, tensors = pack_pipeline(self.pipeline_)
        agreement = self.member_agreement_[np.isfinite(self.member_agreement_)]
        if self._has_embedding:
            tensors["confidence"] = torch.from_numpy(self.confidence_)
        if hasattr(self, "probabilities_"):
            tensors["probabilities"] = torch.from_numpy(self.probabilities_)
        if hasattr(self, "_pieces"):
            tensors["pieces"] = torch.from_numpy(self._pieces)
        tensors["member_agreement"] = torch.from_numpy(agreement)
        candidates: tuple[Candidate, ...] = ()
        if hasattr(self, "suggestion_"):
            candidates = self.suggestion_.candidates
        reports, histories = pack_reports(self.members_)
        layers, refinement = {}, {}
        if self.layers_:
            layers["layers"] = [asdict(layer) for layer in self.layers_]
        if self.refinement_ is not None:
            refinement["refinement"] = pack_refinement(self.refinement_)
        return {
            "pipeline": info,
            "reports": reports,
            "stability": self.stability_,
            "candidates": [asdict(candidate) for candidate in candidates],
            "graphs": [asdict(graph) for graph in self.candidates_],
            **layers,
            **refinement,
        }, tensors | histories

    def _unpack_graphs(self, record: Record) -> tuple[GraphCandidate, ...]:
        if "graphs" in record:
            return tuple(unpack_graph(each) for each in record.records("graphs"))
        # A file from before there was a choice.
        return (
            GraphCandidate(
                len(self.pipeline_.members[0].landmarks),
                self.pipeline_.n_neighbors,
                cut=None,
                largest=None,
                score=None,
                chosen=True,
            ),
        )

    def _unpack_pieces(self, archive: Archive, tree: Tree) -> np.ndarray:
        limits: Any = {"dtype": torch.int64, "least": 0, "most": tree.n_pieces - 1}
        found = archive.tensor("pieces", len(self.labels_), **limits).numpy()
        if (tree.owners.numpy()[found] != self.labels_).any():
            raise ModelFileError("its pieces are not those of its labels")
        return found

    def _unpack_probabilities(self, archive: Archive) -> np.ndarray:
        shape = len(self.labels_), len(self.pipeline_.centers)
        found = archive.shares("probabilities", *shape).numpy()
        if (found.argmax(1) != self.labels_).any():
            raise ModelFileError("its probabilities are not those of its labels")
        return found

    def _unpack(self, record: Record, archive: Archive) -> None:
        self.members_ = unpack_reports(record.records("reports"), archive)
        self.stability_ = record.number("stability")
        self._store_candidates(
            [unpack_candidate(each) for each in record.records("candidates")]
        )
        pipeline = unpack_pipeline(
            record.record("pipeline"), archive, self.n_features_in_
        )
        took_part = sum(report.took_part for report in self.members_)
        if took_part != len(pipeline.members):
            raise ModelFileError("its members are not those that it reports of")
        self._store_pipeline(pipeline)
        self.candidates_ = self._unpack_graphs(record)
        self.layers_ = tuple(map(unpack_layer, record.records("layers", default=[])))
        self.refinement_ = None
        if "refinement" in record:
            self.refinement_ = unpack_refinement(record.record("refinement"))
        if (pipeline.student is not None) != bool(
            self.refinement_ and self.refinement_.kept
        ):
            raise ModelFileError("what it says of its refinement is not what it has")
        if hasattr(self, "labels_"):  # not of rows that did not lie in memory
            self.confidence_ = archive.shares("confidence", len(self.labels_)).numpy()
            if pipeline.calibration is not None:
                self.probabilities_ = self._unpack_probabilities(archive)
            if pipeline.tree is not None:
                self._pieces = self._unpack_pieces(archive, pipeline.tree)
        self._store_agreement(archive.shares("member_agreement", took_part).numpy())
        check_views_fit(self, pipeline)
        self._store_views(pipeline)
