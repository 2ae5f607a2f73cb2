"""The method: encode → anchor → fuse → embed → assign.

``fit_pipeline`` says the first of these words, ``cluster_members`` the other four, and
between the last two it counts, if nobody said how many clusters. What they learn is a
``FittedPipeline``, whose ``coordinates`` walks the same road for any rows: that is
why the training rows get the same labels from ``predict`` as from ``fit``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import add

import numpy as np
import torch

from scedae import spectral
from scedae._checkpoint import Checkpoint
from scedae._ensemble import (
    EncodedEnsemble,
    EncodedMember,
    MemberReport,
    encode_members,
)
from scedae._member_training import PASS_SHARE, TRAINING_SHARE
from scedae._members import MemberSpec
from scedae._numerics import times
from scedae._progress import Progress
from scedae._random import generator
from scedae._threads import share_out
from scedae.autoencoder import Encoder, TrainingOptions, encode
from scedae.rows import Result, Rows, ScaledStream, Scaler, scaled

# Of ten starts none may end in the best clusters: on USPS one in four does.
_STARTS = 30
_START_ROUNDS = 15


@dataclass(frozen=True)
class FittedMember:
    """What one member needs to place a new row among its landmarks."""

    spec: MemberSpec
    encoder: Encoder | None  # None: the member works on the rows themselves
    landmarks: torch.Tensor  # (p, e)
    bandwidth: float
    column_scale: torch.Tensor  # (p,) Σ^(-1/2), float64
    votes: torch.Tensor  # (p, k) share of each cluster near each landmark, float64

    def encode(self, rows: torch.Tensor) -> torch.Tensor:
        return rows if self.encoder is None else encode(self.encoder, rows)

    def affinity(self, rows: torch.Tensor, n_neighbors: int) -> spectral.Affinity:
        """Z of scaled rows, of shape (n, p): encode, anchor."""
        neighbors = spectral.nearest_landmarks(
            self.encode(rows), self.landmarks, min(n_neighbors, len(self.landmarks))
        )
        return spectral.landmark_affinity(
            neighbors, self.bandwidth, len(self.landmarks)
        )

    def to(self, device: torch.device) -> FittedMember:
        return replace(
            self,
            encoder=self.encoder and self.encoder.to(device),
            landmarks=self.landmarks.to(device),
            column_scale=self.column_scale.to(device),
            votes=self.votes.to(device),
        )


@dataclass(frozen=True)
class Assignment:
    """The clusters of some rows, and how sure they are."""

    labels: torch.Tensor  # (n,)
    votes: torch.Tensor  # (m, n) what each member gives to the label
    confidence: torch.Tensor  # (n,)


@dataclass(frozen=True)
class FittedPipeline:
    """Everything the five verbs learnt; enough to treat rows never seen before."""

    scaler: Scaler
    members: tuple[FittedMember, ...]
    n_neighbors: int
    embedding: str
    basis: spectral.Basis  # (Σp, q)
    metric: torch.Tensor  # (q, q) makes clusters round; identity for LSC, float64
    centers: torch.Tensor  # (k, q) in that metric, float64

    def affinity(self, rows: torch.Tensor) -> spectral.FusedAffinity:
        """Z̄ of scaled rows, of shape (n, Σp): encode, anchor, fuse."""
        affinities = [m.affinity(rows, self.n_neighbors) for m in self.members]
        return spectral.fuse(affinities, [m.column_scale for m in self.members])

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """Embedding of scaled rows, of shape (n, q)."""
        return self._embed(self.affinity(rows))

    def assign(self, rows: torch.Tensor) -> Assignment:
        """Clusters and confidence of scaled rows."""
        affinity = self.affinity(rows)
        return self.assign_embedded(affinity, self._embed(affinity))

    def assign_embedded(
        self, affinity: spectral.FusedAffinity, points: torch.Tensor
    ) -> Assignment:
        """The same for rows whose Z̄ and coordinates are known."""
        labels = spectral.nearest(points, self.centers)[:, 0]
        parts = spectral.unfuse(affinity, [m.column_scale for m in self.members])
        votes = torch.stack(
            [
                spectral.vote(part, member.votes, labels)
                for part, member in zip(parts, self.members, strict=True)
            ]
        )
        confidence = spectral.combine(
            spectral.margin(points, self.centers, labels), _mean_of_members(votes)
        )
        return Assignment(labels, votes, confidence)

    def _embed(self, affinity: spectral.FusedAffinity) -> torch.Tensor:
        points = spectral.embed(affinity, self._projection.to(affinity.device))
        return times(points, self.metric)

    @cached_property
    def _projection(self) -> torch.Tensor:
        """What takes a row of Z̄ to its coordinates, of shape (Σp, q)."""
        return torch.from_numpy(
            spectral.embedding_matrix(self.basis, self.embedding, len(self.centers))
        )

    def to(self, device: torch.device) -> FittedPipeline:
        return replace(
            self,
            scaler=self.scaler.to(device),
            members=tuple(member.to(device) for member in self.members),
            metric=self.metric.to(device),
            centers=self.centers.to(device),
        )


# What ``assign_rows`` says of a row: its label, and how sure it is.
ROW_RESULTS = (Result(np.int64), Result(np.float64))


def assign_rows(
    pipeline: FittedPipeline, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    assignment = pipeline.assign(rows)
    return assignment.labels, assignment.confidence


@dataclass(frozen=True)
class LandmarkSums:
    """Sums over rows of [Z_1 | … | Z_m]; the scale of its columns follows from them."""

    columns: torch.Tensor  # (Σp,) on the host
    gram: spectral.Gram  # (Σp, Σp)

    def __add__(self, other: LandmarkSums) -> LandmarkSums:
        return LandmarkSums(self.columns + other.columns, self.gram + other.gram)

    def __sizeof__(self) -> int:
        # Dask asks for it before it moves something.
        return self.columns.nbytes + self.gram.nbytes

    def fused(
        self, members: Sequence[FittedMember]
    ) -> tuple[spectral.Gram, torch.Tensor]:
        """Gram matrix and column sums of Z̄, by scaling afterwards: saves a pass."""
        factors = torch.cat([member.column_scale.cpu() for member in members])
        factors *= len(members) ** -0.5
        return self.gram.scaled(factors.numpy()), self.columns * factors


def landmark_sums(
    members: Sequence[FittedMember], n_neighbors: int, rows: torch.Tensor
) -> LandmarkSums:
    """What some scaled rows add to the sums."""
    there = [member.to(rows.device) for member in members]
    side_by_side = spectral.FusedAffinity(
        tuple(member.affinity(rows, n_neighbors) for member in there)
    )
    return LandmarkSums(
        side_by_side.column_sums().cpu(), spectral.gram_matrix(side_by_side)
    )


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


def fit_pipeline(
    rows: Rows,
    scaler: Scaler,
    specs: Sequence[MemberSpec],
    *,
    training: TrainingOptions | None,
    n_clusters: int | range,
    n_neighbors: int,
    landmark_method: str,
    embedding: str,
    seed: int,
    device: torch.device,
    progress: Progress,
    rows_are_equal: bool = False,
    checkpoint: Checkpoint | None = None,
) -> PipelineFit:
    """Fit the whole method on rows.

    Parameters are assumed to be checked. ``rows_are_equal`` says that all rows are
    equal, so that constant codes are no sign of a collapse.
    """
    source = scaled(rows, scaler, device, seed)
    encoded = encode_members(
        source,
        specs,
        training,
        seed,
        device,
        progress,
        rows_are_equal=rows_are_equal,
        checkpoint=checkpoint,
    )
    return cluster_members(
        encoded,
        scaler,
        n_clusters=n_clusters,
        n_neighbors=n_neighbors,
        landmark_method=landmark_method,
        embedding=embedding,
        seed=seed,
        progress=progress,
    )


def cluster_members(
    encoded: EncodedEnsemble,
    scaler: Scaler,
    *,
    n_clusters: int | range,
    n_neighbors: int,
    landmark_method: str,
    embedding: str,
    seed: int,
    progress: Progress,
    bandwidth_factor: float = 1.0,
    rounded: bool = True,
    opinions: bool = True,
) -> PipelineFit:
    """All verbs after ``encode``, where the encodings are.

    Landmarks, centres and votes are learnt from the rows at hand: all of them, or a
    sample. Where there are more, their sums and labels take a pass each.
    Of a range of ``n_clusters`` the best is taken. ``bandwidth_factor`` is 1 in every
    estimator; experiments vary it. They do without the second ``opinions`` too, and
    without clusters made round, which the paper does not know.
    """
    stream = encoded.stream
    progress.stage("anchor")
    anchor = partial(_anchor, landmark_method, n_neighbors, bandwidth_factor, seed)
    members, affinities = _anchor_all(encoded, anchor, progress)

    progress.stage("fuse")
    fusion = _fuse(members, affinities, stream, n_neighbors, progress)
    del affinities  # as large as the fused one

    progress.stage("embed")
    most = n_clusters if isinstance(n_clusters, int) else n_clusters[-1]
    basis = fusion.basis(spectral.n_vectors(embedding, most))
    panel = fusion.panel(basis, embedding, seed) if opinions else None
    n_clusters, candidates = _count(panel, n_clusters, progress)
    basis = basis.first(spectral.n_vectors(embedding, n_clusters))
    matrix = spectral.embedding_matrix(basis, embedding, n_clusters)
    fused = fusion.affinity
    points = spectral.embed(fused, torch.from_numpy(matrix).to(fused.device))

    progress.stage("assign")
    rounded = rounded and embedding == "diffusion"  # LSC's stay as published
    partition = _partition(points, n_clusters, seed, rounded=rounded)
    voters = _with_votes(fusion.members, fused, partition.labels, n_clusters)
    pipeline = FittedPipeline(
        scaler,
        voters,
        n_neighbors,
        embedding,
        basis,
        partition.metric,
        partition.centers,
    )
    assignment = pipeline.assign_embedded(fused, partition.points)
    labels, confidence = _answer(pipeline, assignment, stream, progress)
    return PipelineFit(
        pipeline,
        embedding=partition.points.cpu().numpy() if stream is None else None,
        labels=labels,
        confidence=confidence,
        # numpy's mean uses one thread: the same for any number of them.
        member_agreement=assignment.votes.cpu().numpy().mean(axis=1),
        kmeans_margin=partition.kmeans_margin,
        stability=_stability(panel, partition, n_clusters),
        candidates=candidates,
        reports=encoded.reports,
    )


def _anchor_all(
    encoded: EncodedEnsemble,
    anchor: Callable[[EncodedMember], tuple[FittedMember, spectral.Affinity]],
    progress: Progress,
) -> tuple[list[FittedMember], list[spectral.Affinity]]:
    """Every member among its landmarks, and its affinity."""
    share = (1 - TRAINING_SHARE) / 2 / len(encoded.members)

    def anchored(member: EncodedMember) -> tuple[FittedMember, spectral.Affinity]:
        found = anchor(member)
        progress.advance(share, f"member {member.number + 1} of {len(encoded.reports)}")
        return found

    if encoded.members[0].encoding.device.type == "cpu":
        pairs = share_out(anchored, encoded.members)
    else:
        pairs = [anchored(member) for member in encoded.members]
    members, affinities = zip(*pairs, strict=True)
    return list(members), list(affinities)


@dataclass(frozen=True)
class Fusion:
    """What anchor and fuse leave to the verbs after them."""

    members: list[FittedMember]
    affinity: spectral.FusedAffinity  # Z̄ of the rows at hand
    gram: spectral.Symmetric  # Z̄ᵀZ̄ of all rows, or Z̄Z̄ᵀ
    column_sums: torch.Tensor  # (Σp,) of all rows

    def basis(self, n_vectors: int) -> spectral.Basis:
        """The leading singular vectors of Z̄ after the constant one."""
        trivial = spectral.trivial_vector(self.column_sums)
        return spectral.spectral_basis(self.gram, trivial, n_vectors)

    def panel(self, basis: spectral.Basis, embedding: str, seed: int) -> spectral.Panel:
        """Those who can be asked for a second opinion."""
        scales = [member.column_scale for member in self.members]
        return spectral.Panel(self.affinity, scales, basis, embedding, seed)


def _fuse(
    members: list[FittedMember],
    affinities: Sequence[spectral.Affinity],
    stream: ScaledStream | None,
    n_neighbors: int,
    progress: Progress,
) -> Fusion:
    """Z̄ of the rows at hand; its sums over all rows, by a pass if there are more."""
    if stream is None:
        fused = spectral.fuse(affinities, [m.column_scale for m in members])
        return Fusion(members, fused, spectral.gram_of(fused), fused.column_sums())
    kernel = partial(landmark_sums, tuple(members), n_neighbors)
    sums: LandmarkSums = stream.total(kernel, add, _ticking(progress))
    members = _rescaled(members, sums)
    fused = spectral.fuse(affinities, [m.column_scale for m in members])
    return Fusion(members, fused, *sums.fused(members))


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


@dataclass(frozen=True)
class Partition:
    """The rows at hand, put to clusters."""

    metric: torch.Tensor  # (q, q)
    centers: torch.Tensor  # (k, q) in that metric
    points: torch.Tensor  # (n, q) in that metric
    labels: torch.Tensor  # (n,)
    kmeans_labels: torch.Tensor  # (n,) before clusters were made round
    kmeans_margin: float  # mean over the rows, of those labels


def _partition(
    points: torch.Tensor, n_clusters: int, seed: int, *, rounded: bool
) -> Partition:
    """k-means, and then clusters made round if asked for."""
    random = generator(seed, "assign")
    centers = spectral.kmeans(
        points, n_clusters, random, n_starts=_STARTS, n_iter_start=_START_ROUNDS
    ).centers
    first = spectral.nearest(points, centers)[:, 0]
    margin = float(spectral.margin(points, centers, first).cpu().numpy().mean())
    if not rounded:
        metric = torch.eye(points.shape[1]).to(points)
        return Partition(metric, centers, points, first, first, margin)
    metric, centers = spectral.round_clusters(points, centers)
    points = times(points, metric)
    labels = spectral.nearest(points, centers)[:, 0]
    return Partition(metric, centers, points, labels, first, margin)


def _stability(
    panel: spectral.Panel | None, partition: Partition, n_clusters: int
) -> float:
    """Of the clusters as k-means has them, since that is how halves are cut."""
    if panel is None:
        return np.nan
    return panel.stability(partition.kmeans_labels, n_clusters)


def _answer(
    pipeline: FittedPipeline,
    assignment: Assignment,
    stream: ScaledStream | None,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and confidence of all rows, by a pass if there are more than at hand."""
    if stream is None:
        return assignment.labels.cpu().numpy(), assignment.confidence.cpu().numpy()
    kernel = partial(_assign_there, pipeline)
    labels, confidence = stream.each(kernel, ROW_RESULTS, _ticking(progress))
    return labels, confidence


def _ticking(progress: Progress) -> Callable[[float], None]:
    """Blocks of one of the two passes, as shares of the whole fit."""
    done = 0.0

    def tick(share: float) -> None:
        nonlocal done
        done += share
        progress.advance(share * PASS_SHARE, f"{done:.0%} of the rows")

    return tick


def _assign_there(
    pipeline: FittedPipeline, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return assign_rows(pipeline.to(rows.device), rows)


def _rescaled(
    members: Sequence[FittedMember], sums: LandmarkSums
) -> list[FittedMember]:
    """Members with the column scales of all rows in place of those of a sample."""
    shares = sums.columns.split([len(member.landmarks) for member in members])
    return [
        replace(m, column_scale=spectral.inverse_root(share).to(m.column_scale.device))
        for m, share in zip(members, shares, strict=True)
    ]


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


def _mean_of_members(votes: torch.Tensor) -> torch.Tensor:
    """Mean over the first axis, member after member, (m, n) → (n,).

    In a fixed order: a sum by torch may depend on how many rows stand side by side.
    """
    total = torch.zeros_like(votes[0])
    for member in votes:
        total += member
    return total / len(votes)


def _anchor(
    landmark_method: str,
    n_neighbors: int,
    bandwidth_factor: float,
    seed: int,
    member: EncodedMember,
) -> tuple[FittedMember, spectral.Affinity]:
    """Landmarks, bandwidth and column sums of one member, and its affinity."""
    landmarks = spectral.choose_landmarks(
        member.encoding,
        min(member.spec.n_landmarks, member.encoding.n_rows),
        landmark_method,
        generator(seed, "landmarks", member.number),
    )
    find = partial(
        spectral.nearest_landmarks,
        landmarks=landmarks,
        n_neighbors=min(n_neighbors, len(landmarks)),
    )
    found = [find(block) for block in member.encoding.blocks()]
    neighbors = spectral.Neighbors(
        torch.cat([part.columns for part in found]),
        torch.cat([part.squared for part in found]),
    )
    bandwidth = bandwidth_factor * spectral.mean_distance(neighbors)
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
