"""What was learnt ↔ named tensors and JSON, for the model file."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import torch

from scedae._members import MemberSpec
from scedae._model import FittedMember, FittedPipeline, MemberReport
from scedae._rows import SCALES, Directions, Scaler
from scedae._spectral import EMBEDDINGS, Basis
from scedae._storage.archive import Archive
from scedae._storage.packing import pack_encoder, unpack_encoder
from scedae.exceptions import ModelFileError

Packed = tuple[dict[str, Any], dict[str, torch.Tensor]]


def pack_scaler(scaler: Scaler) -> Packed:
    directions = scaler.directions
    info = {
        "kind": scaler.kind,
        "bounded": scaler.bounded,
        "turned": directions is not None,
    }
    tensors = {"scaler.offset": scaler.offset, "scaler.factor": scaler.factor}
    if directions is not None:
        tensors["scaler.center"] = directions.center
        tensors["scaler.directions"] = directions.matrix
    return info, tensors


def unpack_scaler(info: dict[str, Any], archive: Archive, n_columns: int) -> Scaler:
    if info["kind"] not in SCALES:
        raise ModelFileError(f"the model file names an unknown scale {info['kind']!r}.")
    offset = archive.tensor("scaler.offset", n_columns)
    factor = archive.tensor("scaler.factor", n_columns)
    directions = None
    if info["turned"]:
        center = archive.tensor("scaler.center", n_columns)
        matrix = archive.tensor("scaler.directions", n_columns, None)
        directions = Directions(center, matrix)
    return Scaler(info["kind"], bool(info["bounded"]), offset, factor, directions)


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
        members.append(
            {
                "spec": asdict(member.spec),
                "bandwidth": member.bandwidth,
                "encoder": number,
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
    }
    return info, tensors


def unpack_pipeline(
    info: dict[str, Any], archive: Archive, n_columns: int
) -> FittedPipeline:
    centers = archive.tensor("centers", None, None)
    scaler = unpack_scaler(info["scaler"], archive, n_columns)
    members = tuple(
        _unpack_member(member, archive, f"member.{i}", scaler.n_columns, len(centers))
        for i, member in enumerate(info["members"])
    )
    if int(info["n_neighbors"]) < 1 or not members:
        raise ModelFileError("the model file has no members or no neighbours.")
    if info["embedding"] not in EMBEDDINGS:
        raise ModelFileError(
            f"the model file names an unknown embedding {info['embedding']!r}."
        )
    n_landmarks = sum(len(member.landmarks) for member in members)
    vectors = archive.tensor("basis.vectors", n_landmarks, None)
    width = vectors.shape[1]
    values = archive.tensor("basis.singular_values", width)
    return FittedPipeline(
        scaler=scaler,
        members=members,
        n_neighbors=int(info["n_neighbors"]),
        embedding=info["embedding"],
        basis=Basis(vectors.numpy(), values.numpy()),
        metric=archive.tensor("metric", width, width),
        centers=archive.tensor("centers", None, width),
    )


def _unpack_member(
    info: dict[str, Any], archive: Archive, prefix: str, n_columns: int, n_clusters: int
) -> FittedMember:
    spec, encoder, width = unpack_spec(info["spec"]), None, n_columns
    if info["encoder"] is not None:
        n_layers = len(spec.hidden_layers) + 1
        name = f"encoder.{info['encoder']}"
        encoder = unpack_encoder(archive, name, n_columns, n_layers)
        width = encoder.encoding_dim
    landmarks = archive.tensor(f"{prefix}.landmarks", None, width)
    bandwidth = float(info["bandwidth"])
    if not math.isfinite(bandwidth):
        raise ModelFileError("a bandwidth of the model file is not finite.")
    return FittedMember(
        spec=spec,
        encoder=encoder,
        landmarks=landmarks,
        bandwidth=bandwidth,
        column_scale=archive.tensor(f"{prefix}.column_scale", len(landmarks)),
        votes=archive.tensor(f"{prefix}.votes", len(landmarks), n_clusters),
    )


def unpack_spec(info: dict[str, Any]) -> MemberSpec:
    return MemberSpec(**{**info, "hidden_layers": tuple(info["hidden_layers"])})


def pack_reports(reports: tuple[MemberReport, ...]) -> list[dict[str, Any]]:
    return [asdict(report) for report in reports]


def unpack_reports(info: list[dict[str, Any]]) -> tuple[MemberReport, ...]:
    return tuple(
        MemberReport(unpack_spec(r["spec"]), tuple(r["history"]), r["collapsed"])
        for r in info
    )
