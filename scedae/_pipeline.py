"""The method: encode → anchor → fuse → embed → assign.

``fit_pipeline`` says the first of these words, ``cluster_members`` the other four, and
before the last it counts, if nobody said how many clusters. What they learn is a
``FittedPipeline`` (``_model``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from scedae import _spectral as spectral
from scedae._ensemble import (
    EncodedEnsemble,
    EncodedMember,
    encode_members,
)
from scedae._fusion import fuse_members
from scedae._member_training import PASS_SHARE, TRAINING_SHARE
from scedae._model import (
    ROW_RESULTS,
    Assignment,
    FittedMember,
    FittedPipeline,
    MemberReport,
    assign_rows,
)
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import generator
from scedae._rows import Rows, Scaler, on_scaled
from scedae._threads import share_out


@dataclass(frozen=True)
class Tail:
    """How the verbs after ``encode`` go about it.

    The last three have one value in every estimator. Experiments, which repeat what
    was published, vary them: see ``internal``.
    """

    n_neighbors: int
    embedding: str
    landmark_method: str = "kmeans"
    bandwidth_factor: float = 1.0  # times the mean distance to the nearest landmarks
    whitened: bool = True  # rows go to the nearest centre by the clusters' own metric
    split_halves: bool = True  # stability, by halves of the ensemble


@dataclass(frozen=True)
class PipelineFit:
    """What a fit hands over: the pipeline, and its answer for the training rows.

    Of rows that do not lie in memory there is no embedding, labels and confidence are
    in the form that fits the rows, and agreement, stability and candidates are those
    of the sample.
    """

    pipeline: FittedPipeline
    embedding: np.ndarray | None  # (n, q)
    labels: np.ndarray  # (n,)
    confidence: np.ndarray  # (n,)
    member_agreement: np.ndarray  # (m,) of the members that did not collapse
    kmeans_margin: float  # mean over the rows at hand, in [0, 1]
    stability: float  # not a number, if nobody asked
    candidates: tuple[spectral.Candidate, ...]  # best first; none, if k was given
    reports: tuple[MemberReport, ...]


def fit_pipeline(start: Prepared, n_clusters: int | range, tail: Tail) -> PipelineFit:
    """Fit the whole method on rows; of a range of ``n_clusters`` the best is taken."""
    encoded = encode_members(start)
    return cluster_members(
        encoded, start.scaler, n_clusters, tail, start.seed, start.progress
    )


def cluster_members(
    encoded: EncodedEnsemble,
    scaler: Scaler,
    n_clusters: int | range,
    tail: Tail,
    seed: int,
    progress: Progress,
) -> PipelineFit:
    """All verbs after ``encode``, where the encodings are.

    Landmarks, centres and votes are learnt from the rows at hand: all of them, or a
    sample. Where there are more, their sums and labels take a pass each. Of a range of
    ``n_clusters`` the best is taken.
    """
    rows = encoded.rows
    progress.stage("anchor")
    members, affinities = _anchor_all(encoded, tail, seed, progress)

    progress.stage("fuse")
    fusion = fuse_members(
        members, affinities, rows, scaler, tail.n_neighbors, _ticking(progress)
    )
    del affinities  # as large as the fused one

    progress.stage("embed")
    most = n_clusters if isinstance(n_clusters, int) else n_clusters[-1]
    basis = fusion.basis(spectral.n_vectors(tail.embedding, most))
    panel = fusion.panel(basis, tail.embedding, seed) if tail.split_halves else None
    n_clusters, candidates = _count(panel, n_clusters, progress)
    basis = basis.first(spectral.n_vectors(tail.embedding, n_clusters))
    matrix = spectral.embedding_matrix(basis, tail.embedding, n_clusters)
    fused = fusion.affinity
    points = spectral.embed(fused, torch.from_numpy(matrix).to(fused.device))

    progress.stage("assign")
    whitened = tail.whitened and tail.embedding == "diffusion"  # LSC as published
    partition = spectral.partition_rows(points, n_clusters, seed, rounded=whitened)
    pipeline = FittedPipeline(
        scaler,
        _with_votes(fusion.members, fused, partition.labels, n_clusters),
        tail.n_neighbors,
        tail.embedding,
        basis,
        partition.metric,
        partition.centers,
    )
    assignment = pipeline.assign_embedded(fused, partition.points)
    labels, confidence = _answer(pipeline, assignment, rows, progress)
    stability = np.nan
    if panel is not None:
        # Of the clusters as k-means has them, since that is how halves are cut.
        stability = panel.stability(partition.kmeans_labels, n_clusters)
    return PipelineFit(
        pipeline,
        embedding=partition.points.cpu().numpy() if rows.all_at_hand else None,
        labels=labels,
        confidence=confidence,
        member_agreement=assignment.votes.cpu().numpy().mean(axis=1),
        kmeans_margin=partition.kmeans_margin,
        stability=stability,
        candidates=candidates,
        reports=encoded.reports,
    )


def _anchor_all(
    encoded: EncodedEnsemble, tail: Tail, seed: int, progress: Progress
) -> tuple[list[FittedMember], list[spectral.Affinity]]:
    """Every member among its landmarks, and its affinity."""
    share = (1 - TRAINING_SHARE) / 2 / len(encoded.members)

    def anchored(member: EncodedMember) -> tuple[FittedMember, spectral.Affinity]:
        found = _anchor(member, tail, seed)
        progress.advance(share, f"member {member.number + 1} of {len(encoded.reports)}")
        return found

    if encoded.members[0].encoding.device.type == "cpu":
        pairs = share_out(anchored, encoded.members)
    else:
        pairs = [anchored(member) for member in encoded.members]
    members, affinities = zip(*pairs, strict=True)
    return list(members), list(affinities)


def _anchor(
    member: EncodedMember, tail: Tail, seed: int
) -> tuple[FittedMember, spectral.Affinity]:
    """Landmarks, bandwidth and column sums of one member, and its affinity."""
    landmarks = spectral.choose_landmarks(
        member.encoding,
        min(member.spec.n_landmarks, member.encoding.n_rows),
        tail.landmark_method,
        generator(seed, "landmarks", member.number),
    )
    n_neighbors = min(tail.n_neighbors, len(landmarks))
    found = [
        spectral.nearest_landmarks(block, landmarks, n_neighbors)
        for block in member.encoding.blocks()
    ]
    neighbors = spectral.Neighbors(
        torch.cat([part.columns for part in found]),
        torch.cat([part.squared for part in found]),
    )
    bandwidth = tail.bandwidth_factor * spectral.mean_distance(neighbors)
    affinity = spectral.landmark_affinity(neighbors, bandwidth, len(landmarks))
    scale = spectral.inverse_root(affinity.column_sums())
    fitted = FittedMember(
        member.spec,
        member.encoder,
        landmarks,
        bandwidth,
        scale,
        votes=scale.new_zeros(len(landmarks), 0),  # no clusters are known yet
    )
    return fitted, affinity


def _count(
    panel: spectral.Panel | None, n_clusters: int | range, progress: Progress
) -> tuple[int, tuple[spectral.Candidate, ...]]:
    """The number of clusters, with the evidence if it was to be found."""
    if isinstance(n_clusters, int):
        return n_clusters, ()
    assert panel is not None, "there is nobody to ask for the number of clusters"
    progress.stage("count")
    candidates = panel.weigh(n_clusters)
    return candidates[0].n_clusters, candidates


def _with_votes(
    members: Sequence[FittedMember],
    fused: spectral.FusedAffinity,
    labels: torch.Tensor,
    n_clusters: int,
) -> tuple[FittedMember, ...]:
    """Members that know which clusters lie near each of their landmarks."""
    parts = spectral.unfuse(fused, [m.column_scale for m in members])
    return tuple(
        replace(member, votes=spectral.landmark_votes(part, labels, n_clusters))
        for member, part in zip(members, parts, strict=True)
    )


def _answer(
    pipeline: FittedPipeline,
    assignment: Assignment,
    rows: Rows,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and confidence of all rows, by a pass if there are more than at hand."""
    if rows.all_at_hand:
        return assignment.labels.cpu().numpy(), assignment.confidence.cpu().numpy()
    kernel = on_scaled(rows, pipeline.scaler, partial(_assign_there, pipeline))
    found = rows.each(kernel, ROW_RESULTS, tick=_ticking(progress))
    labels, confidence = rows.keep(found)
    return labels, confidence


def _assign_there(
    pipeline: FittedPipeline, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return assign_rows(pipeline.to(rows.device), rows)


def _ticking(progress: Progress) -> Callable[[float], None]:
    """Blocks of one of the two passes, as shares of the whole fit."""
    done = 0.0

    def tick(share: float) -> None:
        nonlocal done
        done += share
        progress.advance(share * PASS_SHARE, f"{done:.0%} of the rows")

    return tick
