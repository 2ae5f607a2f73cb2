"""What a fit that is killed leaves behind, so that the next one goes on from there.

A folder holds a file for each training that is finished, and one for each group of
trainings under way, renewed now and then. The name of a file is a digest of all that
decides its content: rows, options, device, structure, seed, and the versions that
compute. So nothing is ever taken up that another fit has left, and a fit that goes on
ends with the bits of one that was never disturbed. A file that is damaged in any way
costs its own training and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch

from scedae._autoencoder import TrainedRun, TrainingOptions, TrainingRun, Unfinished
from scedae._rows import AnyScaler, Rows, Statistics, ViewScaler
from scedae._storage.archive import (
    FORMAT_VERSION,
    Archive,
    pack_encoder,
    read_archive,
    unpack_encoder,
    write_archive,
)
from scedae._storage.model_file import pack_history, unpack_history
from scedae._storage.records import Record, plain_object
from scedae._version import __version__
from scedae._whole_file import sweep, whole_file
from scedae.exceptions import ModelFileError

logger = logging.getLogger("scedae")

# A training under way is written this often, in seconds.
_INTERVAL = 30.0

# Raised by whoever changes what a training ends with for the same options.
_TRAINING = 1

# Rows looked at to tell one order of them from another: each may cost a block.
_GLIMPSED_ROWS = 16


def digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def digest_of_rows(rows: Rows, statistics: Statistics) -> str:
    """A name for the rows: other values, or another order, give another one."""
    bounds = statistics.minimum.tolist(), statistics.maximum.tolist()
    moments = statistics.mean.tolist(), statistics.variance.tolist()
    return digest(rows.n_rows, rows.rows_per_epoch, bounds, moments, _glimpse(rows))


def together(names: Sequence[str]) -> str:
    """One name for the rows of several views; that of one matrix stays."""
    return names[0] if len(names) == 1 else digest(*names)


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
    sweep(folder)
    return folder


def remembered_seed(folder: Path, rows: str, seed: int) -> int:
    """The seed of the first fit on these rows: it repeats what was begun."""
    path = folder / f"seed-{rows}.json"
    if (known := _read_seed(path, rows)) is not None:
        return known
    with whole_file(path) as temporary:
        content = {"seed": seed, "check": digest(rows, seed)}
        temporary.write_text(json.dumps(content), encoding="ascii")
    return seed


def _read_seed(path: Path, rows: str) -> int | None:
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_bytes(), object_pairs_hook=plain_object)
        record = Record(content, path.name)
        seed = record.integer("seed", 0, 2**32 - 1)
        if record.text("check") != digest(rows, seed):
            raise ModelFileError("its digest is wrong")
        record.finish()
    except (ModelFileError, OSError, ValueError, RecursionError) as error:
        logger.warning("%s cannot be used (%s); another seed is drawn.", path, error)
        return None
    return seed


class Checkpoint:
    """Trainings of one fit in a folder."""

    def __init__(
        self,
        folder: Path,
        rows: str,
        scaler: AnyScaler,
        options: TrainingOptions,
        device: torch.device | str,
    ) -> None:
        self._folder = folder
        self._n_columns = scaler.n_columns
        kind = torch.device(device).type if device != "auto" else device
        self._name = digest(rows, *_scaling(scaler), asdict(options), kind, _versions())
        self._written = time.monotonic()

    def _path(self, runs: Sequence[TrainingRun], kind: str) -> Path:
        return self._folder / f"{kind}-{digest(self._name, *runs)}.scedae"

    def finished(self, run: TrainingRun) -> TrainedRun | None:
        """A training that was finished before."""
        return _read(self._path([run], "trained"), partial(self._finished, run))

    def _finished(self, run: TrainingRun, archive: Archive) -> TrainedRun:
        record = Record(archive.info, "its description")
        (kept,) = _exactly(1, record.records("runs"))
        record.finish()
        return self._unpack(archive, run, kept, 0, run.epochs)

    def finish(self, run: TrainingRun, trained: TrainedRun) -> None:
        write_archive(self._path([run], "trained"), *_pack([trained]))

    def recall(self, runs: Sequence[TrainingRun]) -> Unfinished | None:
        """Where trainings that share their steps had come to."""
        return _read(self._path(runs, "unfinished"), partial(self._recall, runs))

    def _recall(self, runs: Sequence[TrainingRun], archive: Archive) -> Unfinished:
        record = Record(archive.info, "its description")
        epoch = record.integer("epoch", 1, runs[0].epochs - 1)
        n_tensors = record.integer("n_tensors", 1, len(archive.tensors))
        kept = _exactly(len(runs), record.records("runs"))
        record.finish()
        return Unfinished(
            epoch,
            [archive.any_tensor(f"state.{i}") for i in range(n_tensors)],
            [
                self._unpack(archive, run, kept[i], i, epoch)
                for i, run in enumerate(runs)
            ],
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
            write_archive(path, info, tensors | states)
            self._written = time.monotonic()

    def _unpack(
        self, archive: Archive, run: TrainingRun, kept: Record, number: int, epoch: int
    ) -> TrainedRun:
        """A training that has come to an epoch, as far as that."""
        kept_at = kept.integers("epochs", 1)
        kept.finish()
        if kept_at != tuple(at for at in run.snapshots if at <= epoch):
            raise ModelFileError("it was kept at other epochs")
        encoders = {
            at: unpack_encoder(
                archive, f"run.{number}.{at}", self._n_columns, run.hidden_layers
            )
            for at in kept_at
        }
        history = unpack_history(archive, f"run.{number}.history", epoch)
        return TrainedRun(encoders, history)


def _scaling(scaler: AnyScaler) -> tuple[object, ...]:
    if isinstance(scaler, ViewScaler):
        return scaler.names, [_scaling(part) for part in scaler.parts]
    scales = [scaler.offset.tolist(), scaler.factor.tolist()]
    if scaler.marginals is not None:
        scales += [tensor.tolist() for tensor in vars(scaler.marginals).values()]
    if scaler.directions is not None:
        scales += [scaler.directions.matrix.tolist()]
    return scaler.kind, scales


def _versions() -> tuple[object, ...]:
    """What changes the bits of a training although no option says so."""
    return __version__, torch.__version__, FORMAT_VERSION, _TRAINING


def _exactly(count: int, records: list[Record]) -> list[Record]:
    if len(records) != count:
        raise ModelFileError(f"it holds {len(records)} trainings instead of {count}")
    return records


def _pack(results: Sequence[TrainedRun]) -> tuple[dict, dict[str, torch.Tensor]]:
    tensors: dict[str, torch.Tensor] = {}
    for number, trained in enumerate(results):
        tensors[f"run.{number}.history"] = pack_history(trained.history)
        for epoch, encoder in trained.encoders.items():
            tensors |= pack_encoder(encoder, f"run.{number}.{epoch}")
    return {"runs": [{"epochs": list(t.encoders)} for t in results]}, tensors


Found = TypeVar("Found")


def _read(path: Path, unpack: Callable[[Archive], Found]) -> Found | None:
    """What a file holds, if it is there and whole."""
    if not path.exists():
        return None
    try:
        archive = read_archive(path)
        if archive.version != FORMAT_VERSION:
            raise ModelFileError("it has the format of another version")
        found = unpack(archive)
        archive.finish()
    except (ModelFileError, OSError) as error:
        logger.warning("%s: %s; that training starts again.", path.name, error)
        return None
    return found
