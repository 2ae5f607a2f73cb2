"""What was learnt ↔ named tensors and a description, for the model file.

Everything is checked before it is used: types, shapes, ranges, and that nothing is left
over. A new optional field is read with a default, a new optional tensor where the
description says that there is one; files from before then still load.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from scedae._autoencoder import Encoder
from scedae._members import MemberSpec
from scedae._model import (
    VERDICTS,
    FittedMember,
    FittedPipeline,
    FittedView,
    MemberReport,
    Refinement,
)
from scedae._rows import (
    SCALES,
    AnyScaler,
    Directions,
    Marginals,
    Scaler,
    ViewScaler,
)
from scedae._spectral import (
    EMBEDDINGS,
    MOST_TIME,
    Basis,
    Calibration,
    Candidate,
    GraphCandidate,
    Layer,
    Tree,
    diffusion_time,
    is_tree,
)
from scedae._storage.archive import Archive, pack_encoder, unpack_encoder
from scedae._storage.records import Record
from scedae.exceptions import ModelFileError

Packed = tuple[dict[str, Any], dict[str, torch.Tensor]]

_MOST_STUDENT_LAYERS = 16
# Of files that do not tell the time of diffusion.
_MOST_TIME_THEN = 1000.0

# Distances of finite rows over this are finite.
_LEAST_USUAL = 1e-150

# Beyond these the square of a bandwidth is not a number to divide by. Zero stands for
# rows that all lie on their landmarks.
_BANDWIDTHS = (1e-150, 1e150)

# Of what is done with each column by itself; no power beyond these is looked for.
_MARGINALS = {
    "power": (-10.0, 10.0),
    "center": (-1e12, 1e12),
    "factor": (0.0, 1e300),
    "weight": (0.0, 1.0),
}


def pack_scaler(scaler: AnyScaler) -> Packed:
    """A scaler, or one for each view."""
    if isinstance(scaler, Scaler):
        return _pack_one(scaler, "scaler")
    infos: list[dict[str, Any]] = []
    tensors: dict[str, torch.Tensor] = {}
    for i, (name, part) in enumerate(zip(scaler.names, scaler.parts, strict=True)):
        info, own = _pack_one(part, f"scaler.{i}")
        infos.append({"name": name, "n_columns": len(part.offset), **info})
        tensors |= own
    return {"views": infos}, tensors


def _pack_one(scaler: Scaler, prefix: str) -> Packed:
    directions = scaler.directions
    info = {
        "kind": scaler.kind,
        "bounded": scaler.bounded,
        "turned": directions is not None,
        "marginals": scaler.marginals is not None,
    }
    tensors = {f"{prefix}.offset": scaler.offset, f"{prefix}.factor": scaler.factor}
    if scaler.marginals is not None:
        for name, tensor in vars(scaler.marginals).items():
            tensors[f"{prefix}.marginals.{name}"] = tensor
    if directions is not None:
        tensors[f"{prefix}.center"] = directions.center
        tensors[f"{prefix}.directions"] = directions.matrix
    return info, tensors


def unpack_scaler(record: Record, archive: Archive, n_columns: int) -> AnyScaler:
    if "views" not in record:
        return _unpack_one(record, archive, n_columns, "scaler")
    names, parts = [], []
    for i, view in enumerate(record.records("views")):
        names.append(view.text("name"))
        width = view.integer("n_columns", 1, n_columns)
        parts.append(_unpack_one(view, archive, width, f"scaler.{i}"))
    record.finish()
    if not names or len(set(names)) < len(names):
        raise record.wrong("views", names)
    return ViewScaler(tuple(names), tuple(parts))


def _unpack_one(
    record: Record, archive: Archive, n_columns: int, prefix: str
) -> Scaler:
    kind = record.choice("kind", SCALES)
    bounded, turned = record.flag("bounded"), record.flag("turned")
    has_marginals = record.flag("marginals", default=False)
    record.finish()
    # Of raw columns, whose squares are finite.
    offset = archive.tensor(f"{prefix}.offset", n_columns, least=-1e155, most=1e155)
    factor = archive.tensor(f"{prefix}.factor", n_columns, least=0, most=math.inf)
    directions = None
    if turned:
        short = torch.float32
        center = archive.tensor(f"{prefix}.center", n_columns, dtype=short)
        matrix = archive.tensor(f"{prefix}.directions", n_columns, None, dtype=short)
        directions = Directions(center, matrix)
    marginals = None
    if has_marginals:
        parts = {
            name: archive.tensor(
                f"{prefix}.marginals.{name}", n_columns, least=low, most=high
            )
            for name, (low, high) in _MARGINALS.items()
        }
        marginals = Marginals(**parts)
    return Scaler(kind, bounded, offset, factor, directions, marginals)


def pack_pipeline(pipeline: FittedPipeline) -> Packed:
    scaler_info, tensors = pack_scaler(pipeline.scaler)
    # Members on different landmarks may share an encoder: it is written once.
    encoders: dict[object, int] = {}
    members = []
    for i, member in enumerate(pipeline.members):
        number = None
        if member.encoder is not None:
            number = encoders.setdefault(member.spec.snapshot, len(encoders))
            tensors |= pack_encoder(member.encoder, f"encoder.{number}")
        tensors[f"member.{i}.landmarks"] = member.landmarks
        tensors[f"member.{i}.column_scale"] = member.column_scale
        tensors[f"member.{i}.votes"] = member.votes
        if member.usual is not None:
            tensors[f"member.{i}.usual"] = member.usual
        if member.cells is not None:
            # Members on the same rows share them, which a file may not.
            tensors[f"member.{i}.cells"] = member.cells.clone()
        members.append(
            {
                "spec": pack_spec(member.spec),
                "bandwidth": member.bandwidth,
                "encoder": number,
                **({} if member.usual is None else {"usual": True}),
                **({} if member.cells is None else {"cells": True}),
                **_pack_leading(member),
            }
        )
    tensors["basis.vectors"] = torch.from_numpy(pipeline.basis.vectors)
    tensors["basis.singular_values"] = torch.from_numpy(pipeline.basis.singular_values)
    tensors["metric"] = pipeline.metric
    tensors["centers"] = pipeline.centers
    info = {
        "scaler": scaler_info,
        "members": members,
        "n_neighbors": pipeline.n_neighbors,
        "embedding": pipeline.embedding,
        "time": pipeline.time,
    }
    if pipeline.tree is not None:
        info["layered"] = True
        tensors["tree.centers"] = pipeline.tree.centers
        tensors["tree.owners"] = pipeline.tree.owners
        tensors["tree.linkage"] = torch.from_numpy(pipeline.tree.linkage)
    if pipeline.doubt is not None:
        info["doubt"] = True
        tensors["doubt"] = pipeline.doubt
    if pipeline.calibration is not None:
        info["calibrated"] = True
        tensors["calibration.confidence"] = pipeline.calibration.confidence
        tensors["calibration.chance"] = pipeline.calibration.chance
    if pipeline.student is not None:
        info["student_layers"] = len(pipeline.student.layers)
        tensors |= pack_encoder(pipeline.student, "student")
    return info, tensors


def unpack_pipeline(record: Record, archive: Archive, n_columns: int) -> FittedPipeline:
    n_clusters = len(archive.tensor("centers", None, None))
    scaler = unpack_scaler(record.record("scaler"), archive, n_columns)
    members = tuple(
        _unpack_member(member, archive, f"member.{i}", scaler, n_clusters)
        for i, member in enumerate(record.records("members"))
    )
    if not members:
        raise ModelFileError("it has no members")
    n_neighbors = record.integer("n_neighbors", 1)
    embedding = record.choice("embedding", EMBEDDINGS)
    time = record.number("time", 0, MOST_TIME) if "time" in record else None
    student = _unpack_student(record, archive, scaler.n_columns, n_clusters)
    doubt = _unpack_doubt(archive) if record.flag("doubt", default=False) else None
    layered = record.flag("layered", default=False)
    calibration = None
    if record.flag("calibrated", default=False):
        calibration = _unpack_calibration(archive)
    record.finish()
    n_landmarks = sum(len(member.landmarks) for member in members)
    vectors = archive.tensor("basis.vectors", n_landmarks, None)
    width = vectors.shape[1]
    # None of a matrix with a bistochastic square is over one.
    values = archive.tensor("basis.singular_values", width, least=0, most=1.001)
    return FittedPipeline(
        scaler=scaler,
        members=members,
        n_neighbors=n_neighbors,
        embedding=embedding,
        time=_first_time(values, embedding, n_clusters) if time is None else time,
        basis=Basis(vectors.numpy(), values.numpy()),
        metric=archive.tensor("metric", width, width),
        centers=archive.tensor("centers", None, width),
        student=student,
        calibration=calibration,
        doubt=doubt,
        tree=_unpack_tree(archive, width, n_clusters) if layered else None,
    )


def _unpack_tree(archive: Archive, width: int, n_clusters: int) -> Tree:
    centers = archive.tensor("tree.centers", None, width)
    limits: Any = {"dtype": torch.int64, "least": 0, "most": n_clusters - 1}
    owners = archive.tensor("tree.owners", len(centers), **limits)
    linkage = archive.tensor("tree.linkage", len(centers) - 1, 4, least=0)
    tree = Tree(centers, owners, linkage.numpy())
    if bool((owners.diff() < 0).any()) or not is_tree(tree):
        raise ModelFileError("its layers are no tree of its clusters")
    return tree


def unpack_layer(record: Record) -> Layer:
    layer = Layer(
        n_clusters=record.integer("n_clusters", 1),
        stability=record.number("stability", 0, 1),
    )
    record.finish()
    return layer


def _unpack_doubt(archive: Archive) -> torch.Tensor:
    found = archive.shares("doubt", None)
    if bool((found.diff() < 0).any()):
        raise ModelFileError("its quantiles of confidence fall")
    return found


def _unpack_calibration(archive: Archive) -> Calibration:
    confidence = archive.shares("calibration.confidence", None)
    chance = archive.shares("calibration.chance", len(confidence))
    # A straight line needs two different ends, and more confidence is never worth less.
    if bool((confidence.diff() <= 0).any()) or bool((chance.diff() < 0).any()):
        raise ModelFileError("its calibration does not rise")
    return Calibration(confidence, chance)


def _unpack_student(
    record: Record, archive: Archive, n_columns: int, n_clusters: int
) -> Encoder | None:
    """The network that has the last word on labels, if there is one."""
    if "student_layers" not in record:
        return None
    hidden = (None,) * (record.integer("student_layers", 1, _MOST_STUDENT_LAYERS) - 1)
    student = unpack_encoder(archive, "student", n_columns, hidden)
    if student.encoding_dim != n_clusters:
        raise ModelFileError(f"its student knows {student.encoding_dim} clusters")
    return student


def _first_time(values: torch.Tensor, embedding: str, n_clusters: int) -> float:
    """The time of files that do not tell it: the k-th vector set it then."""
    if embedding == "lsc":
        return 0.0
    return min(diffusion_time(values.numpy(), n_clusters + 1), _MOST_TIME_THEN)


def _unpack_member(
    record: Record, archive: Archive, prefix: str, scaler: AnyScaler, n_clusters: int
) -> FittedMember:
    spec, encoder = unpack_spec(record.record("spec")), None
    columns = _columns_of(spec, scaler)
    if "leading" in record:
        columns = slice(0, record.integer("leading", 1, scaler.n_columns))
    n_columns = scaler.n_columns if columns is None else columns.stop - columns.start
    width = n_columns
    if record.is_null("encoder") != (not spec.hidden_layers):
        raise ModelFileError(f"{prefix} has an encoder without layers, or the reverse")
    if spec.hidden_layers:
        name = f"encoder.{record.integer('encoder')}"
        encoder = unpack_encoder(archive, name, n_columns, spec.hidden_layers)
        width = encoder.encoding_dim
    bandwidth = record.number("bandwidth", 0, _BANDWIDTHS[1])
    if 0 < bandwidth < _BANDWIDTHS[0]:
        raise record.wrong("bandwidth", bandwidth)
    usual = record.flag("usual", default=False)
    cells = record.flag("cells", default=False)
    record.finish()
    floats: Any = {"dtype": torch.float32}
    landmarks = archive.tensor(f"{prefix}.landmarks", None, width, **floats)
    return FittedMember(
        spec=spec,
        encoder=encoder,
        landmarks=landmarks,
        bandwidth=bandwidth,
        column_scale=archive.tensor(f"{prefix}.column_scale", len(landmarks), least=0),
        votes=archive.shares(f"{prefix}.votes", len(landmarks), n_clusters),
        usual=archive.tensor(f"{prefix}.usual", len(landmarks), least=_LEAST_USUAL)
        if usual
        else None,
        columns=columns,
        cells=archive.tensor(f"{prefix}.cells", None, width, **floats)
        if cells
        else None,
    )


def _pack_leading(member: FittedMember) -> dict[str, int]:
    """How many columns a member sees that sees neither all nor those of a view."""
    if member.columns is None or member.spec.view is not None:
        return {}
    return {"leading": member.columns.stop}


def _columns_of(spec: MemberSpec, scaler: AnyScaler) -> slice | None:
    """Columns that a member sees: all of them, or those of its view."""
    if isinstance(scaler, Scaler) and spec.view is None:
        return None
    if isinstance(scaler, Scaler) or spec.view not in (None, *scaler.names):
        raise ModelFileError("a member sees a view that is not there")
    return scaler.columns_of(spec.view)


def pack_view(view: FittedView) -> dict[str, Any]:
    names = view.feature_names_in
    return {
        "name": view.name,
        "n_features_in": view.n_features_in,
        "feature_names_in": None if names is None else list(names),
        "trained": view.trained,
    }


def unpack_view(record: Record) -> FittedView:
    name, n_columns = record.text("name"), record.integer("n_features_in", 1)
    names = None
    if not record.is_null("feature_names_in"):
        names = tuple(record.texts("feature_names_in"))
        if len(names) != n_columns:
            raise record.wrong("feature_names_in", names)
    view = FittedView(name, n_columns, names, record.flag("trained"))
    record.finish()
    return view


def pack_spec(spec: MemberSpec) -> dict[str, Any]:
    """Without the view, where there is none: an older scedae can read that, too."""
    found = asdict(spec)
    if spec.view is None:
        del found["view"]
    return found


def unpack_spec(record: Record) -> MemberSpec:
    layers = record.integers("hidden_layers", 1)
    spec = MemberSpec(
        layers,
        record.integer("epochs", 1 if layers else 0),
        record.integer("n_landmarks", 2),
        record.integer("initialization"),
        record.text("view") if "view" in record else None,
    )
    record.finish()
    return spec


# Losses that some epochs may lack.
_LOSSES = ("epoch", "loss", "clustering_loss")


def pack_reports(reports: Sequence[MemberReport]) -> tuple[list[dict], dict]:
    """Reports, with a line of numbers for each epoch; what an epoch lacks is NaN."""
    tensors = {
        f"report.{i}.history": pack_history(report.history)
        for i, report in enumerate(reports)
        if report.history
    }
    infos = [
        {
            "spec": pack_spec(report.spec),
            "collapsed": report.collapsed,
            **({"left_out": True} if report.left_out else {}),
            "n_epochs": len(report.history),
        }
        for report in reports
    ]
    return infos, tensors


def pack_history(history: Sequence[dict[str, float]]) -> torch.Tensor:
    lines = [[line.get(name, math.nan) for name in _LOSSES] for line in history]
    return torch.tensor(lines, dtype=torch.float64)


def unpack_history(
    archive: Archive, name: str, n_epochs: int
) -> list[dict[str, float]]:
    # A loss may have become infinite, or no number, before a member was left out.
    found = archive.tensor(name, n_epochs, len(_LOSSES), finite=False)
    if found[:, 0].tolist() != list(range(1, n_epochs + 1)):
        raise ModelFileError(f"tensor {name!r} does not count its epochs")
    return [_losses(line) for line in found.tolist()]


def _losses(line: Sequence[float]) -> dict[str, float]:
    epoch, loss, clustering = line
    found = {"epoch": int(epoch), "loss": loss}
    return found if math.isnan(clustering) else {**found, "clustering_loss": clustering}


def unpack_reports(
    records: Sequence[Record], archive: Archive
) -> tuple[MemberReport, ...]:
    return tuple(_unpack_report(r, archive, i) for i, r in enumerate(records))


def _unpack_report(record: Record, archive: Archive, number: int) -> MemberReport:
    spec, collapsed = unpack_spec(record.record("spec")), record.flag("collapsed")
    left_out = record.flag("left_out", default=False)
    if archive.version < 5:
        history = [_unpack_line(line) for line in record.records("history")]
    else:
        n_epochs = record.integer("n_epochs")
        name = f"report.{number}.history"
        history = unpack_history(archive, name, n_epochs) if n_epochs else []
    record.finish()
    return MemberReport(spec, tuple(history), collapsed, left_out)


def _unpack_line(record: Record) -> dict[str, float]:
    """An epoch as format 4 has it."""
    epoch, loss = record.integer("epoch", 1), record.take("loss")
    clustering = record.take("clustering_loss", math.nan)
    record.finish()
    for value in (loss, clustering):
        if not isinstance(value, float):
            raise record.wrong("loss", value)
    return _losses([epoch, loss, clustering])


def _optional(record: Record, name: str, most: float) -> float | None:
    return None if record.is_null(name) else record.number(name, 0, most)


def unpack_graph(record: Record) -> GraphCandidate:
    graph = GraphCandidate(
        n_landmarks=record.integer("n_landmarks", 1),
        n_neighbors=record.integer("n_neighbors", 1),
        cut=_optional(record, "cut", 1),
        largest=_optional(record, "largest", 1),
        score=_optional(record, "score", 10),
        chosen=record.flag("chosen"),
        longer="longer" in record and record.flag("longer"),
    )
    record.finish()
    return graph


def pack_refinement(refinement: Refinement) -> dict[str, Any]:
    """Flows one after the other: a list of them all is quick to check."""
    flat = [number for flow in refinement.flows for number in flow]
    return {**asdict(refinement), "flows": flat}


def unpack_refinement(record: Record) -> Refinement:
    flows = iter(record.integers("flows"))
    found = Refinement(
        verdict=record.choice("verdict", VERDICTS),
        moved=record.number("moved", 0, 1),
        # Three at a time; a rest that is no flow is left out.
        flows=tuple(zip(flows, flows, flows, strict=False)),
        score_before=_optional(record, "score_before", 10),
        score_after=_optional(record, "score_after", 10),
    )
    record.finish()
    return found


def unpack_candidate(record: Record) -> Candidate:
    told = "n_found" in record and not record.is_null("n_found")
    candidate = Candidate(
        n_clusters=record.integer("n_clusters", 1),
        gap=record.number("gap"),
        stability=record.number("stability"),
        score=record.number("score"),
        n_found=record.integer("n_found", 1) if told else None,
    )
    record.finish()
    return candidate
