"""What a fit that is killed leaves behind, so that the next one goes on from there.

A folder holds a file for each training that is finished, and one for each group of
trainings under way, renewed now and then. The name of a file is a digest of all that
decides its content: rows, options, device, structure and seed. So nothing is ever
taken up that another fit has left, and a fit that goes on ends with the bits of one
that was never disturbed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from scedae._autoencoder import TrainedRun, TrainingOptions, TrainingRun, Unfinished
from scedae._rows import Rows, Scaler, Statistics
from scedae._storage.archive import Archive, read_archive, write_archive
from scedae._storage.packing import pack_encoder, unpack_encoder
from scedae._whole_file import whole_file
from scedae.exceptions import ModelFileError

logger = logging.getLogger("scedae")

# A training under way is written this often, in seconds.
_INTERVAL = 30.0

# Rows looked at to tell one order of them from another: each may cost a block.
_GLIMPSED_ROWS = 16


def digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def digest_of_rows(rows: Rows, statistics: Statistics) -> str:
    """A name for the rows: other values, or another order, give another one."""
    bounds = statistics.minimum.tolist(), statistics.maximum.tolist()
    moments = statistics.mean.tolist(), statistics.variance.tolist()
    return digest(rows.n_rows, rows.rows_per_epoch, bounds, moments, _glimpse(rows))


def _glimpse(rows: Rows) -> bytes:
    """A few rows at fixed places: sums alone do not tell in which order rows came."""
    step = max(rows.n_rows // _GLIMPSED_ROWS, 1)
    runs = [slice(i, i + 1) for i in range(0, rows.n_rows, step)]
    return rows.read(runs).numpy().tobytes()


def open_folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(
            f"checkpoint_dir={str(path)!r} is a file; name a folder."
        ) from error
    return folder


def remembered_seed(folder: Path, rows: str, seed: int) -> int:
    """The seed of the first fit on these rows: it repeats what was begun."""
    path = folder / f"seed-{rows}.json"
    if path.exists():
        return int(json.loads(path.read_text())["seed"])
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps({"seed": seed}))
    return seed


class Checkpoint:
    """Trainings of one fit in a folder."""

    def __init__(
        self,
        folder: Path,
        rows: str,
        scaler: Scaler,
        options: TrainingOptions,
        device: torch.device | str,
    ) -> None:
        self._folder = folder
        self._n_columns = scaler.n_columns
        scales = [scaler.offset.tolist(), scaler.factor.tolist()]
        if scaler.directions is not None:
            scales += [scaler.directions.matrix.tolist()]
        kind = torch.device(device).type if device != "auto" else device
        self._name = digest(rows, scaler.kind, scales, asdict(options), kind)
        self._written = time.monotonic()

    def _path(self, runs: Sequence[TrainingRun], kind: str) -> Path:
        return self._folder / f"{kind}-{digest(self._name, *runs)}.scedae"

    def finished(self, run: TrainingRun) -> TrainedRun | None:
        """A training that was finished before."""
        archive = _read(self._path([run], "trained"))
        return None if archive is None else self._unpack(archive, run, 0)

    def finish(self, run: TrainingRun, trained: TrainedRun) -> None:
        info, tensors = _pack([trained])
        write_archive(self._path([run], "trained"), Archive(info, tensors))

    def recall(self, runs: Sequence[TrainingRun]) -> Unfinished | None:
        """Where trainings that share their steps had come to."""
        archive = _read(self._path(runs, "unfinished"))
        if archive is None:
            return None
        return Unfinished(
            int(archive.info["epoch"]),
            [archive.tensors[f"state.{i}"] for i in range(archive.info["n_tensors"])],
            [self._unpack(archive, run, i) for i, run in enumerate(runs)],
        )

    def note(self, runs: Sequence[TrainingRun], unfinished: Unfinished) -> None:
        """Told after each epoch; writes when it is time, and at the end."""
        path = self._path(runs, "unfinished")
        if unfinished.epoch == runs[0].epochs:
            for run, trained in zip(runs, unfinished.results, strict=True):
                self.finish(run, trained)
            path.unlink(missing_ok=True)
        elif time.monotonic() - self._written >= _INTERVAL:
            info, tensors = _pack(unfinished.results)
            states = {f"state.{i}": t for i, t in enumerate(unfinished.tensors)}
            info |= {"epoch": unfinished.epoch, "n_tensors": len(states)}
            write_archive(path, Archive(info, tensors | states))
            self._written = time.monotonic()

    def _unpack(self, archive: Archive, run: TrainingRun, number: int) -> TrainedRun:
        kept = archive.info["runs"][number]
        n_layers = len(run.hidden_layers) + 1
        encoders = {
            epoch: unpack_encoder(
                archive, f"run.{number}.{epoch}", self._n_columns, n_layers
            )
            for epoch in kept["epochs"]
        }
        return TrainedRun(encoders, kept["history"])


def _pack(results: Sequence[TrainedRun]) -> tuple[dict, dict[str, torch.Tensor]]:
    tensors: dict[str, torch.Tensor] = {}
    for number, trained in enumerate(results):
        for epoch, encoder in trained.encoders.items():
            tensors |= pack_encoder(encoder, f"run.{number}.{epoch}")
    runs = [{"epochs": list(t.encoders), "history": t.history} for t in results]
    return {"runs": runs}, tensors


def _read(path: Path) -> Archive | None:
    if not path.exists():
        return None
    try:
        return read_archive(path)
    except ModelFileError as error:
        logger.warning("%s; that training starts again.", error)
        return None
