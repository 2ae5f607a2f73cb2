"""Encodings are trained once for a data set, kept in one file, shared by all tables."""

from __future__ import annotations

import json
import shutil
import time
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from scedae._autoencoder import is_collapsed
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
    Variation,
    encode_members,
    one_blas_thread,
    own_threads,
)


def train_encodings(
    path: Path,
    run: PaperRun,
    variant: Variant | None,
    data: DataSet,
    specification: Specification,
    device: torch.device,
    progress: Progress,
) -> Record:
    """Train all networks of a data set at once and keep every encoding.

    The file appears when it is complete. Returns the record of the training.
    """
    start = time.perf_counter()
    members = planned_members(specification, variant)
    variation = Variation(**variant.network) if variant else Variation()
    settings: dict[str, Any] = {
        "scale": specification.data[run.data].scale,
        "batch_size": specification.batch_size,
    }
    settings |= variant.training if variant else {}
    model = SCEDAE.paper(
        data.n_clusters,
        ensemble=list(members.values()),
        device=device,
        random_state=specification.seed,
        # Goes on here after a stop, at the epoch that was written down last.
        checkpoint_dir=path.with_suffix(".trainings"),
        **settings,
    )
    with warnings.catch_warnings():
        # Told by the record, and by those who read an encoding.
        warnings.simplefilter("ignore", CollapsedMemberWarning)
        with own_threads(), one_blas_thread:
            encoded = _encode(model, data, variation, progress)
    codes = _codes(members, encoded, variation)
    _write(path, members, codes)
    shutil.rmtree(path.with_suffix(".trainings"))
    return {
        **asdict(run),
        "seed": specification.seed,
        "losses": {
            name: round(report.loss, 6) if name in codes else None
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
    if variant and variant.trained and not variant.is_reading:
        epochs = (specification.ensemble_epochs,)
        n_starts = specification.variant_initializations
    if variant and variant.initializations:
        n_starts = variant.initializations
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


def _encode(
    model: SCEDAE, data: DataSet, variation: Variation, progress: Progress
) -> EncodedEnsemble:
    rows = model._check(data.rows, progress).brought()
    start = model._prepare(rows, progress)
    assert start.training is not None
    training = replace(start.training, variation=variation)
    progress.stage("encode")
    return encode_members(replace(start, training=training))


def _codes(
    members: dict[str, MemberSpec], encoded: EncodedEnsemble, variation: Variation
) -> dict[str, torch.Tensor]:
    """Codes by name, of the networks that did not collapse.

    An encoder ends before what a variation does with its codes, so that is done here.
    """
    names = list(members)
    codes = {names[m.number]: variation.code(m.codes.cpu()) for m in encoded.members}
    return {name: code for name, code in codes.items() if not is_collapsed(code)}


def _write(
    path: Path, members: dict[str, MemberSpec], codes: dict[str, torch.Tensor]
) -> None:
    from safetensors.torch import save

    path.parent.mkdir(parents=True, exist_ok=True)
    collapsed = [name for name in members if name not in codes]
    codes = {name: code.contiguous() for name, code in codes.items()}
    with whole_file(path) as unfinished:
        unfinished.write_bytes(save(codes, {"collapsed": json.dumps(collapsed)}))


def training_run(data: str, variant: Variant | None) -> PaperRun:
    """How the training of a file is called among the records."""
    own = variant.trained if variant else ""
    return PaperRun("encodings", data, "training", 0, variant=own)
