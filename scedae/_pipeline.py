"""The method: encode → anchor → fuse → embed → assign.

``fit_pipeline`` says these five words in this order. What it learns is a
``FittedPipeline``, whose ``coordinates`` walks the same road for any rows: that is
why the training rows get the same labels from ``predict`` as from ``fit``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch

from scedae import spectral
from scedae._members import MemberSpec
from scedae._progress import Progress
from scedae._random import child_seed, generator
from scedae.autoencoder import (
    Encoder,
    TrainedRun,
    TrainingOptions,
    TrainingRun,
    encode,
    is_collapsed,
    train_runs,
)
from scedae.exceptions import CollapsedEnsembleError, CollapsedMemberWarning
from scedae.rows import Rows, ScaledRows, Scaler, TensorRows

# Shares of the progress bar; training takes the rest.
_AFTER_TRAINING = 0.1


@dataclass(frozen=True)
class FittedMember:
    """What one member needs to place a new row among its landmarks."""

    spec: MemberSpec
    encoder: Encoder | None  # None: the member works on the rows themselves
    landmarks: torch.Tensor  # (p, e)
    bandwidth: float
    column_scale: torch.Tensor  # (p,) Σ^(-1/2), float64

    def encode(self, rows: torch.Tensor) -> torch.Tensor:
        return rows if self.encoder is None else encode(self.encoder, rows)

    def to(self, device: torch.device) -> FittedMember:
        return replace(
            self,
            encoder=self.encoder and self.encoder.to(device),
            landmarks=self.landmarks.to(device),
            column_scale=self.column_scale.to(device),
        )


@dataclass(frozen=True)
class FittedPipeline:
    """Everything the five verbs learnt; enough to treat rows never seen before."""

    scaler: Scaler
    members: tuple[FittedMember, ...]
    n_neighbors: int
    embedding: str
    basis: spectral.Basis  # (Σp, q)
    centers: torch.Tensor  # (k, q) float64

    def affinity(self, rows: torch.Tensor) -> sp.csr_matrix:
        """Z̄ of scaled rows, of shape (n, Σp): encode, anchor, fuse."""
        affinities = []
        for member in self.members:
            neighbors = spectral.nearest_landmarks(
                member.encode(rows), member.landmarks, self._r(member)
            )
            affinities.append(
                spectral.landmark_affinity(
                    neighbors, member.bandwidth, len(member.landmarks)
                )
            )
        return spectral.fuse(affinities, [m.column_scale for m in self.members])

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """Embedding of scaled rows, of shape (n, q)."""
        matrix = spectral.embedding_matrix(
            self.basis, self.embedding, len(self.centers)
        )
        return torch.from_numpy(spectral.embed(self.affinity(rows), matrix))

    def _r(self, member: FittedMember) -> int:
        return min(self.n_neighbors, len(member.landmarks))

    def to(self, device: torch.device) -> FittedPipeline:
        members = tuple(member.to(device) for member in self.members)
        return replace(self, scaler=self.scaler.to(device), members=members)


@dataclass(frozen=True)
class MemberReport:
    """How one member fared: its loss after each epoch, and whether it collapsed."""

    spec: MemberSpec
    history: tuple[dict[str, float], ...]
    collapsed: bool

    @property
    def loss(self) -> float:
        """Loss of the last epoch; not a number for a member on the rows."""
        return self.history[-1]["loss"] if self.history else float("nan")


@dataclass(frozen=True)
class PipelineFit:
    """What a fit hands over: the pipeline, and its answer for the training rows."""

    pipeline: FittedPipeline
    embedding: np.ndarray  # (n, q)
    labels: np.ndarray  # (n,)
    reports: tuple[MemberReport, ...]


@dataclass(frozen=True)
class EncodedMember:
    """A member on its way: its encoding, by which it is anchored next."""

    spec: MemberSpec
    number: int
    encoder: Encoder | None
    encoding: spectral.Encoding

    @property
    def codes(self) -> torch.Tensor:
        """Codes of all rows (n, e), of a member that has an encoder."""
        assert isinstance(self.encoding, _CodeRows)
        return self.encoding.codes


@dataclass(frozen=True)
class EncodedEnsemble:
    """The members that can be used, and how all of them fared."""

    members: list[EncodedMember]
    reports: tuple[MemberReport, ...]


def fit_pipeline(
    rows: Rows,
    scaler: Scaler,
    specs: Sequence[MemberSpec],
    *,
    training: TrainingOptions | None,
    n_clusters: int,
    n_neighbors: int,
    landmark_method: str,
    embedding: str,
    seed: int,
    device: torch.device,
    progress: Progress,
    may_be_constant: bool = False,
) -> PipelineFit:
    """Fit the whole method on rows.

    Parameters are assumed to be checked. ``may_be_constant`` says that all rows are
    equal, so that constant codes are no sign of a collapse.
    """
    source = ScaledRows(rows, scaler, device)
    encoded = encode_members(
        source, specs, training, seed, device, progress, may_be_constant=may_be_constant
    )

    progress.stage("anchor")
    members, affinities = [], []
    for member in encoded.members:
        fitted, affinity = _anchor(member, landmark_method, n_neighbors, seed)
        members.append(fitted)
        affinities.append(affinity)
        share = _AFTER_TRAINING / 2 / len(encoded.members)
        progress.advance(share, f"member {member.number}")

    progress.stage("fuse")
    fused = spectral.fuse(affinities, [m.column_scale for m in members])

    progress.stage("embed")
    basis = spectral.spectral_basis(
        spectral.gram_matrix(fused),
        spectral.trivial_vector(fused),
        spectral.n_vectors(embedding, n_clusters),
    )
    matrix = spectral.embedding_matrix(basis, embedding, n_clusters)
    coordinates = spectral.embed(fused, matrix)

    progress.stage("assign")
    points = torch.from_numpy(coordinates)
    centers = spectral.kmeans(points, n_clusters, generator(seed, "assign")).centers
    labels = spectral.nearest(points, centers)[:, 0].numpy()

    pipeline = FittedPipeline(
        scaler, tuple(members), n_neighbors, embedding, basis, centers
    )
    return PipelineFit(pipeline, coordinates, labels, encoded.reports)


def encode_members(
    source: ScaledRows,
    specs: Sequence[MemberSpec],
    training: TrainingOptions | None,
    seed: int,
    device: torch.device,
    progress: Progress,
    *,
    may_be_constant: bool = False,
) -> EncodedEnsemble:
    """encode: train every member, encode all rows, leave out what collapsed."""
    progress.stage("encode")
    trained = _train(source, specs, training, seed, device, progress)
    members = _encode(source, specs, trained)
    reports = tuple(
        _report(member, trained, may_be_constant=may_be_constant) for member in members
    )
    return EncodedEnsemble(_leave_out_collapsed(members, reports), reports)


def training_key(spec: MemberSpec) -> tuple[tuple[int, ...], int]:
    """Members with the same key are parts of one training."""
    return spec.hidden_layers, spec.initialization


def _train(
    source: ScaledRows,
    specs: Sequence[MemberSpec],
    options: TrainingOptions | None,
    seed: int,
    device: torch.device,
    progress: Progress,
) -> dict[tuple[tuple[int, ...], int], TrainedRun]:
    """One training for all members that share it, kept at each member's epoch."""
    progress.plan(1.0)
    if options is None:
        return {}
    snapshots: dict[tuple[tuple[int, ...], int], set[int]] = {}
    for spec in specs:
        if spec.hidden_layers:
            snapshots.setdefault(training_key(spec), set()).add(spec.epochs)
    runs = [
        TrainingRun(
            hidden, child_seed(seed, "member", *hidden, start), tuple(sorted(epochs))
        )
        for (hidden, start), epochs in snapshots.items()
    ]
    work = sum(run.epochs for run in runs)

    def on_epoch(numbers: Sequence[int], epoch: int, losses: list[float]) -> None:
        done = (1 - _AFTER_TRAINING) * len(numbers) / work
        members = ", ".join(str(number + 1) for number in numbers)
        loss = sum(losses) / len(losses)
        detail = f"member {members} of {len(runs)}, epoch {epoch}, loss {loss:.4f}"
        progress.advance(done, detail)

    trained = train_runs(source, runs, options, device, on_epoch)
    return dict(zip(snapshots, trained, strict=True))


def _encode(
    source: ScaledRows,
    specs: Sequence[MemberSpec],
    trained: dict[tuple[tuple[int, ...], int], TrainedRun],
) -> list[EncodedMember]:
    """Codes of every member, in one pass over the rows.

    Members that share an encoder share its codes too.
    """
    encoders = {
        (*training_key(spec), spec.epochs): trained[training_key(spec)].encoders[
            spec.epochs
        ]
        for spec in specs
        if spec.hidden_layers
    }
    parts: dict[tuple[object, ...], list[torch.Tensor]] = {key: [] for key in encoders}
    if encoders:
        for block in source.blocks():
            for key, encoder in encoders.items():
                parts[key].append(encode(encoder, block))
    codes = {key: _CodeRows(torch.cat(part)) for key, part in parts.items()}
    encoded = []
    for number, spec in enumerate(specs):
        key = (*training_key(spec), spec.epochs)
        encoded.append(
            EncodedMember(spec, number, encoders.get(key), codes.get(key, source))
        )
    return encoded


class _CodeRows(TensorRows):
    """Codes in memory, in the shape in which anchoring wants its rows."""

    def __init__(self, codes: torch.Tensor) -> None:
        super().__init__(codes, codes.dtype)
        self.codes = codes

    def blocks(self) -> Iterator[torch.Tensor]:
        yield self.codes


def _report(
    member: EncodedMember,
    trained: dict[tuple[tuple[int, ...], int], TrainedRun],
    *,
    may_be_constant: bool,
) -> MemberReport:
    if not isinstance(member.encoding, _CodeRows):
        return MemberReport(member.spec, (), collapsed=False)
    history = trained[training_key(member.spec)].history[: member.spec.epochs]
    codes = member.encoding.codes
    collapsed = is_collapsed(codes)
    if may_be_constant:
        collapsed = not bool(torch.isfinite(codes).all())
    return MemberReport(member.spec, tuple(history), collapsed)


def _leave_out_collapsed(
    encoded: list[EncodedMember], reports: Sequence[MemberReport]
) -> list[EncodedMember]:
    """The members that can be used; a poor one would poison the mean (Eq. 6)."""
    alive = [m for m, r in zip(encoded, reports, strict=True) if not r.collapsed]
    lost = [str(m.number) for m in encoded if m not in alive]
    remedy = (
        "try a smaller learning_rate, other hidden_layers, or another scale "
        "(scale='standard' suits columns of different units)"
    )
    if not alive:
        raise CollapsedEnsembleError(
            "every autoencoder gave the same code, or no finite one, for all rows: "
            f"{remedy}."
        )
    if lost:
        warnings.warn(
            f"member {', '.join(lost)} of {len(encoded)} collapsed (its codes are "
            f"constant or not finite) and was left out: {remedy}.",
            CollapsedMemberWarning,
            stacklevel=4,
        )
    return alive


def _anchor(
    member: EncodedMember, landmark_method: str, n_neighbors: int, seed: int
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
    bandwidth = spectral.mean_distance(neighbors)
    affinity = spectral.landmark_affinity(neighbors, bandwidth, len(landmarks))
    scale = spectral.inverse_root(affinity.column_sums())
    fitted = FittedMember(member.spec, member.encoder, landmarks, bandwidth, scale)
    return fitted, affinity
