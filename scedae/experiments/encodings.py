"""Encodings are trained once for a data set, kept in one file, shared by all tables."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import asdict
from pathlib import Path

import torch

from scedae._estimator import SCEDAE
from scedae._members import MemberSpec
from scedae._progress import Progress
from scedae._whole_file import whole_file
from scedae.exceptions import CollapsedMemberWarning
from scedae.experiments.data_sets import DataSet
from scedae.experiments.environment import circumstances
from scedae.experiments.kept_files import encoding_name
from scedae.experiments.plan import PaperRun
from scedae.experiments.specification import (
    Specification,
    Structure,
    Variant,
    structure_name,
)
from scedae.experiments.store import Record
from scedae.internal import (
    EncodedEnsemble,
    encode_members,
    one_blas_thread,
    own_threads,
)


def train_encodings(
    path: Path,
    run: PaperRun,
    data: DataSet,
    specification: Specification,
    device: torch.device,
    progress: Progress,
) -> Record:
    """Train all networks of a data set at once and keep every encoding.

    The file appears when it is complete. Returns the record of the training.
    """
    start = time.perf_counter()
    variant = specification.variants.get(run.variant)
    members = planned_members(specification, variant)
    settings = {"scale": specification.data[run.data].scale}
    settings |= variant.training if variant else {}
    model = SCEDAE.paper(
        data.n_clusters,
        ensemble=list(members.values()),
        device=device,
        random_state=specification.seed,
        **settings,
    )
    with warnings.catch_warnings():
        # Told by the record, and by those who read an encoding.
        warnings.simplefilter("ignore", CollapsedMemberWarning)
        with own_threads(), one_blas_thread:
            encoded = _encode(model, data, progress)
    _write(path, members, encoded)
    return {
        **asdict(run),
        "seed": specification.seed,
        "losses": {
            name: None if report.collapsed else round(report.loss, 6)
            for name, report in zip(members, encoded.reports, strict=True)
        },
        **circumstances(device, len(data.rows), time.perf_counter() - start),
    }


def planned_members(
    specification: Specification, variant: Variant | None
) -> dict[str, MemberSpec]:
    """The encodings of one file by name: 150 for the tables, fewer for a variant."""
    epochs: tuple[int, ...] = specification.epochs
    n_starts = specification.initializations
    if variant and variant.training:
        epochs = (specification.ensemble_epochs,)
        n_starts = specification.variant_initializations
    return {
        encoding_name(structure_name(structure), start, epoch): _member(
            specification.widths(structure), start, epoch
        )
        for structure in specification.structures
        for start in range(n_starts)
        for epoch in epochs
    }


def _member(widths: Structure, start: int, epochs: int) -> MemberSpec:
    # The least number of landmarks a spec allows: each run brings its own.
    return MemberSpec(widths, epochs, n_landmarks=2, initialization=start)


def _encode(model: SCEDAE, data: DataSet, progress: Progress) -> EncodedEnsemble:
    rows = model._check(data.rows, progress).brought()
    return encode_members(model._prepare(rows, progress))


def _write(
    path: Path, members: dict[str, MemberSpec], encoded: EncodedEnsemble
) -> None:
    from safetensors.torch import save

    names = list(members)
    codes = {names[m.number]: m.codes.cpu().contiguous() for m in encoded.members}
    path.parent.mkdir(parents=True, exist_ok=True)
    collapsed = [name for name in names if name not in codes]
    with whole_file(path) as unfinished:
        unfinished.write_bytes(save(codes, {"collapsed": json.dumps(collapsed)}))


def training_run(data: str, variant: Variant | None) -> PaperRun:
    """How the training of a file is called among the records."""
    own = variant.name if variant and variant.training else ""
    return PaperRun("encodings", data, "training", 0, variant=own)
