"""The method: encode → anchor → fuse → embed → assign.

``fit_pipeline`` says the first of these words, ``cluster_members`` the other four; it
counts first, if nobody said how many clusters, and refines last, if somebody asked for
it. What they learn is a ``FittedPipeline`` (``_model``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from scedae import _spectral as spectral
from scedae._anchoring import CLOSE_LOOK, Anchoring, Tail
from scedae._defaults import NEAREST_ROWS
from scedae._encoded import EncodedEnsemble
from scedae._ensemble import encode_members
from scedae._fusion import Fusion, fuse_members
from scedae._model import (
    ROW_RESULTS,
    Assignment,
    FittedMember,
    FittedPipeline,
    MemberReport,
    Refinement,
    assign_rows,
    mean_of_members,
)
from scedae._prepared import Prepared
from scedae._progress import Progress, shares_of_stages
from scedae._random import generator
from scedae._refinement import refine
from scedae._rows import AnyScaler, Rows, ViewScaler, on_scaled, scaled
from scedae._rows_first import is_clear, rows_alone
from scedae._view_choice import view_to_leave_out


@dataclass(frozen=True)
class PipelineFit:
    """What a fit hands over: the pipeline, and its answer for the training rows.

    Of rows that do not lie in memory there are no embedding, probabilities and pieces,
    labels and confidence are in the form that fits the rows, and agreement, stability
    and candidates are those of the sample.
    """

    pipeline: FittedPipeline
    embedding: np.ndarray | None  # (n, q)
    labels: np.ndarray  # (n,)
    confidence: np.ndarray  # (n,)
    probabilities: np.ndarray | None  # (n, k)
    member_agreement: np.ndarray  # (m,) of the members that did not collapse
    kmeans_margin: float  # mean over the rows at hand, in [0, 1]
    stability: float  # not a number, if nobody asked
    candidates: tuple[spectral.Candidate, ...]  # best first; none, if k was given
    graphs: tuple[spectral.GraphCandidate, ...]  # that were tried, the finest first
    refinement: Refinement | None  # None, if nobody asked for one
    pieces: np.ndarray | None  # (n,) of the clusters
    layers: tuple[spectral.Layer, ...]  # that are stable, coarsest first
    reports: tuple[MemberReport, ...]


def fit_pipeline(start: Prepared, n_clusters: int | range, tail: Tail) -> PipelineFit:
    """Fit the whole method on rows; of a range of ``n_clusters`` the best is taken."""
    shares = partial(
        shares_of_stages,
        counts=not isinstance(n_clusters, int),
        refines=tail.refining is not None,
        in_memory=start.rows.all_at_hand,
        rows_first=bool(start.first),
    )
    progress = start.progress
    progress.plan(shares(trains=start.training is not None))
    if start.first:
        assert isinstance(n_clusters, int), "whoever prepared this has looked"
        progress.stage("near rows")
        alone = rows_alone(start)
        near = replace(tail, scales=NEAREST_ROWS)
        anchoring = Anchoring(alone, near, start.seed, progress.advance, CLOSE_LOOK)
        choice = anchoring.choose(n_clusters)
        if is_clear(choice.best, choice.agreement, n_clusters):
            progress.plan(shares(trains=False))
            return _cluster(alone, anchoring, start.scaler, n_clusters, progress)
    progress.stage("encode")
    encoded = encode_members(start)
    return cluster_members(
        encoded, start.scaler, n_clusters, tail, start.seed, progress
    )


def cluster_members(
    encoded: EncodedEnsemble,
    scaler: AnyScaler,
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
    anchoring = Anchoring(encoded, tail, seed, progress.advance)
    return _cluster(encoded, anchoring, scaler, n_clusters, progress)


def _cluster(
    encoded: EncodedEnsemble,
    anchoring: Anchoring,
    scaler: AnyScaler,
    n_clusters: int | range,
    progress: Progress,
) -> PipelineFit:
    rows, asked, tail, seed = encoded.rows, n_clusters, anchoring.tail, anchoring.seed
    n_clusters, candidates = _counted(anchoring, n_clusters, progress)

    progress.stage("anchor")
    choice = anchoring.choose(n_clusters)
    anchored = choice.anchored
    name = view_to_leave_out(encoded, choice, n_clusters, anchoring)
    if name is not None:  # once more, and perhaps another one
        assert isinstance(scaler, ViewScaler)
        scaler = scaler.only({*scaler.names} - {name})
        fewer = encoded.of_views(scaler)
        return cluster_members(fewer, scaler, asked, tail, seed, progress)

    progress.stage("fuse")
    fusion = fuse_members(anchored, rows, scaler, seed, _ticking(progress))

    progress.stage("embed")
    basis = fusion.basis(spectral.n_vectors(tail.embedding, n_clusters))
    panel = None
    if tail.split_halves:
        panel = fusion.panel(basis, tail.embedding, seed, choice.kept)
    time = spectral.embedding_time(basis, tail.embedding, n_clusters, choice.kept)
    points = fusion.points(basis, time)

    progress.stage("assign")
    partition = spectral.partition_rows(
        points,
        n_clusters,
        seed,
        rounded=tail.rounded,
        # Of other rows beside those at hand, coordinates would be others.
        start=choice.centers if rows.all_at_hand else None,
    )
    pipeline = FittedPipeline(
        scaler,
        tuple(fusion.members),
        anchored.n_neighbors,
        tail.embedding,
        time,
        basis,
        partition.metric,
        partition.centers,
    )
    points = partition.points
    pipeline, assignment = _assigned(pipeline, fusion, partition.labels, points)

    report, answers = None, None
    if tail.refining is not None:
        progress.stage("refine")
        sample, tick = scaled(rows, scaler, seed).sample(), progress.advance
        refined = refine(
            sample, assignment, n_clusters, anchoring.judge, seed, tail.refining, tick
        )
        report = refined.report
        if refined.answers is not None:
            answers = refined.answers
            pipeline = replace(pipeline, student=refined.student)
            pipeline, assignment = _assigned(
                pipeline, fusion, answers.argmax(1), points, answers
            )
    doubt = spectral.doubt_quantiles(assignment.confidence.cpu().numpy())
    pipeline = replace(pipeline, doubt=doubt)
    opinions = _Opinions()
    if panel is not None:
        calibration = _calibration(panel, assignment, n_clusters)
        pipeline = replace(pipeline, calibration=calibration)
        # Of the clusters as k-means has them, since that is how halves are cut.
        stability = panel.stability(partition.kmeans_labels, n_clusters)
        tree, pieces = _tree(encoded, fusion, pipeline, assignment.labels, seed)
        pipeline = replace(pipeline, tree=tree)
        opinions = _opinions(panel, tree, pieces, stability)
    all_labels, confidence = _answer(pipeline, assignment, rows, progress)
    return PipelineFit(
        pipeline,
        embedding=points.cpu().numpy() if rows.all_at_hand else None,
        labels=all_labels,
        confidence=confidence,
        probabilities=_probabilities(pipeline, fusion, assignment, answers)
        if rows.all_at_hand
        else None,
        member_agreement=assignment.votes.cpu().numpy().mean(axis=1),
        kmeans_margin=partition.kmeans_margin,
        stability=opinions.stability,
        candidates=candidates,
        graphs=choice.said,
        refinement=report,
        pieces=opinions.pieces if rows.all_at_hand else None,
        layers=opinions.layers,
        reports=_as_anchored(encoded.reports, anchored.members),
    )


def _counted(
    anchoring: Anchoring, n_clusters: int | range, progress: Progress
) -> tuple[int, tuple[spectral.Candidate, ...]]:
    """The number of clusters, and the evidence for it where it was not given."""
    if isinstance(n_clusters, int):
        return n_clusters, ()
    progress.stage("count")
    found = anchoring.count(n_clusters)
    best = found[0]
    if best.n_found not in (None, best.n_clusters):
        # Some were outliers. Asked for fewer, the graph may cut them off all the same,
        # and leave two clusters in one: then they are a cluster.
        labels = anchoring.choose(best.n_clusters).labels
        if 0 < spectral.counted(labels) < best.n_clusters:
            best = replace(best, n_clusters=best.n_found)
            found = spectral.best_of_each((best, *found[1:]))
    return best.n_clusters, found


@dataclass(frozen=True)
class _Opinions:
    """What halves of the ensemble say of the clusters, and of finer and coarser ones.

    Nothing, where nobody asked them.
    """

    stability: float = np.nan
    pieces: np.ndarray | None = None
    layers: tuple[spectral.Layer, ...] = ()


def _opinions(
    panel: spectral.Panel,
    tree: spectral.Tree | None,
    pieces: torch.Tensor,
    stability: float,
) -> _Opinions:
    if tree is None:
        return _Opinions(stability)
    layers = spectral.stable_layers(panel, tree, pieces, stability)
    return _Opinions(stability, pieces.cpu().numpy(), layers)


def _assigned(
    pipeline: FittedPipeline,
    fusion: Fusion,
    labels: torch.Tensor,
    points: torch.Tensor,
    answers: torch.Tensor | None = None,
) -> tuple[FittedPipeline, Assignment]:
    """The pipeline whose members vote by these labels; its answer for rows at hand."""
    members = _with_votes(
        fusion.members, fusion.affinity, labels, len(pipeline.centers)
    )
    pipeline = replace(pipeline, members=members)
    return pipeline, pipeline.assign_embedded(fusion.affinity, points, answers)


def _calibration(
    panel: spectral.Panel, assignment: Assignment, n_clusters: int
) -> spectral.Calibration:
    """What confidence is worth, as far as halves of the ensemble can tell."""
    agreement = mean_of_members(assignment.votes)
    found = panel.calibration(
        assignment.labels, assignment.confidence, agreement, n_clusters
    )
    return found.to(agreement.device)


def _tree(
    encoded: EncodedEnsemble,
    fusion: Fusion,
    pipeline: FittedPipeline,
    labels: torch.Tensor,
    seed: int,
) -> tuple[spectral.Tree | None, torch.Tensor]:
    """Finer and coarser clusters, and the pieces of the rows at hand."""
    basis, time = pipeline.basis, pipeline.time
    short = spectral.splitting_time(basis.singular_values, time)
    points = fusion.points(basis, short)
    # Members that share an encoding count once.
    encodings = {id(m.encoding): m.encoding for m in encoded.members}.values()
    merging = spectral.merging_coordinates(
        fusion.points(basis, spectral.LAYER_TIMES * time),
        [encoding.blocks() for encoding in encodings],
        labels,
        len(pipeline.centers),
    )
    tree = spectral.grow_tree(points, labels, merging, generator(seed, "layers"))
    return tree, labels if tree is None else tree.pieces(points, labels)


def _probabilities(
    pipeline: FittedPipeline,
    fusion: Fusion,
    assignment: Assignment,
    answers: torch.Tensor | None,
) -> np.ndarray | None:
    """Chances of all clusters for the rows at hand; None without a calibration."""
    if pipeline.calibration is None:
        return None
    found = pipeline.probabilities_assigned(fusion.affinity, assignment, answers)
    return found.cpu().numpy()


def _as_anchored(
    reports: Sequence[MemberReport], members: Sequence[FittedMember]
) -> tuple[MemberReport, ...]:
    """Reports that tell the landmarks of the graph that was kept."""
    kept = iter(members)
    return tuple(
        replace(report, spec=next(kept).spec) if report.took_part else report
        for report in reports
    )


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
    progress.stage("label")
    kernel = on_scaled(rows, pipeline.scaler, partial(_assign_there, pipeline))
    found = rows.each(kernel, ROW_RESULTS, tick=_ticking(progress))
    labels, confidence = rows.keep(found)
    return labels, confidence


def _assign_there(
    pipeline: FittedPipeline, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return assign_rows(pipeline.to(rows.device), rows)


def _ticking(progress: Progress) -> Callable[[float], None]:
    """Blocks of a pass, as parts of its stage."""
    done = 0.0

    def tick(share: float) -> None:
        nonlocal done
        done += share
        progress.advance(share, f"{done:.0%} of the rows")

    return tick
