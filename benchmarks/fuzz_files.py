"""Damaged model files, checkpoints, records of runs, and hostile tables."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow
import torch
from safetensors.torch import load
from typer.testing import CliRunner

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae._storage.container import pack_container
from scedae.baselines import DKM
from scedae.cli.app import app
from scedae.cli.messages import InputError
from scedae.cli.output import write_record
from scedae.cli.record import read_record
from scedae.exceptions import ModelFileError
from tests.golden.make import HERE as GOLDEN
from tests.test_faults import RUN, a_checkpoint, trained

# ValueError: a model with odd numbers, right checksum and all, that cannot place rows.
DOCUMENTED = (ModelFileError, InputError, ValueError)
Cases = Iterator[tuple[str, Callable[[], object]]]

_NUMBERS = [0, -1, 1, 2**31, 2**63, 10**30, 1e-320, 1e308, -1e308, float("nan"), 0.5]
_VALUES = [*_NUMBERS, None, True, "", "x", "\x1b[2J", [], [[]], {}, {"a": 1}]


def _damaged_bytes(raw: bytes, rng: np.random.Generator) -> bytes:
    """Flipped, cut, doubled, overwritten: what disks and networks do."""
    raw, place = bytearray(raw), int(rng.integers(len(raw)))
    length = int(rng.integers(1, 64))
    kind = rng.integers(6)
    if kind <= 1:
        raw[place] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        del raw[place:]
    elif kind == 3:
        del raw[place : place + length]
    elif kind == 4:
        raw[place:place] = raw[place : place + length]
    else:
        raw[place : place + length] = rng.bytes(length)
    return bytes(raw)


def _places(content: object) -> list[tuple[object, object]]:
    """Every place of an object of JSON, as a container and a key."""
    found: list[tuple[object, object]] = []
    keys = content if isinstance(content, dict) else range(len(content))  # type: ignore
    for key in keys:
        found.append((content, key))
        below = content[key]  # type: ignore[index]
        if isinstance(below, dict | list):
            found += _places(below)
    return found


def _damage_json(content: object, rng: np.random.Generator) -> None:
    """Another value, a lost one, or one more somewhere."""
    places = _places(content)
    where, key = places[int(rng.integers(len(places)))]
    value = _VALUES[int(rng.integers(len(_VALUES)))]
    kind = rng.integers(4)
    if kind == 0:
        del where[key]  # type: ignore[attr-defined]
    elif kind == 1 and isinstance(where, dict):
        where["surprise"] = value
    else:
        where[key] = value  # type: ignore[index]


def _damage_tensor(tensors: dict, rng: np.random.Generator) -> None:
    names = sorted(tensors)
    name = names[int(rng.integers(len(names)))]
    tensor = tensors[name].clone()
    kind = rng.integers(6)
    if kind == 0:
        del tensors[name]
        return
    if kind == 1:
        tensor = tensor[: len(tensor) // 2].clone()
    elif kind == 2:
        tensor = tensor.to(
            torch.float32 if tensor.dtype != torch.float32 else torch.int64
        )
    elif kind == 3:
        tensor = tensor.reshape(-1, 1)
    else:
        value = float(_NUMBERS[int(rng.integers(len(_NUMBERS)))])
        flat = tensor.view(-1)
        if tensor.dtype == torch.float32:
            value = float(np.clip(value, -3e38, 3e38))
        if tensor.dtype == torch.int64:
            value = int(np.nan_to_num(value).clip(-(2**62), 2**62))
        flat[int(rng.integers(len(flat)))] = value
        if kind == 5:
            flat.fill_(value)
    tensors[name] = tensor


def _rebuilt(raw: bytes, rng: np.random.Generator) -> bytes:
    """Damage with a checksum that is right: only what it says can give it away."""
    (length,) = struct.unpack("<Q", raw[:8])
    info = json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["scedae"])
    tensors = load(raw)
    if rng.random() < 0.5:
        _damage_json(info, rng)
    else:
        _damage_tensor(tensors, rng)
    return pack_container(tensors, {"scedae": json.dumps(info)})


def _load_and_predict(kind: type, path: Path, rows: np.ndarray) -> None:
    model = kind.load(path)
    labels = model.predict(rows)
    assert labels.min() >= 0 and labels.max() < len(model.cluster_centers_)
    assert np.isfinite(model.transform(rows)).all(), "coordinates are not finite"
    if hasattr(model, "predict_confidence"):
        confidence = model.predict_confidence(rows)
        assert (confidence >= 0).all() and (confidence <= 1).all(), "confidence"


def model_files(rng: np.random.Generator, folder: Path) -> Cases:
    from scedae import baselines

    kinds = {"SCEDAE": SCEDAE, "LandmarkSpectralClustering": LandmarkSpectralClustering}
    sources = sorted((GOLDEN / "format-5").glob("*.scedae"))
    rows = np.load(GOLDEN / "format-5" / "expected.npz")["rows"]
    while True:
        source = sources[int(rng.integers(len(sources)))]
        if "names" in source.stem:
            continue
        raw = source.read_bytes()
        bytewise = rng.random() < 0.5
        damaged = _damaged_bytes(raw, rng) if bytewise else _rebuilt(raw, rng)
        path = folder / "model.scedae"
        path.write_bytes(damaged)
        name = source.stem.split("-")[0]
        kind = kinds.get(name) or getattr(baselines, name)
        if bytewise and damaged != raw:
            yield f"{source.stem} bytes", lambda k=kind, p=path: _must_refuse(k, p)
        else:
            yield source.stem, lambda k=kind, p=path: _load_and_predict(k, p, rows)


def _must_refuse(kind: type, path: Path) -> None:
    kind.load(path)
    raise AssertionError("a damaged file was taken for a model")


def checkpoints(rng: np.random.Generator, folder: Path) -> Cases:
    """A damaged one is not taken up; a whole one is."""
    kept = a_checkpoint(folder)
    kept.finish(RUN, trained(3))
    (path,) = folder.glob("trained-*")
    raw = path.read_bytes()

    def look(damaged: bytes, bytewise: bool) -> None:
        path.write_bytes(damaged)
        found = kept.finished(RUN)
        assert found is None or not bytewise or damaged == raw, "damage was taken up"
        assert found is None or len(found.history) == 2

    while True:
        bytewise = bool(rng.random() < 0.5)
        damaged = _damaged_bytes(raw, rng) if bytewise else _rebuilt(raw, rng)
        yield "checkpoint", lambda d=damaged, b=bytewise: look(d, b)


def records(rng: np.random.Generator, folder: Path) -> Cases:
    data = {"path": "a", "sha256": "b", "columns": ["x"], "id_column": None}
    run = {"estimator": "SCEDAE", "data": {**data, "labels": None}, "seed": 3}
    path = folder / "run.json"
    write_record(path, run)
    raw = path.read_bytes()

    def look(damaged: bytes) -> None:
        path.write_bytes(damaged)
        assert read_record(folder) == run, "damage was taken up"

    while True:
        damaged = _damaged_bytes(raw, rng)
        yield "run.json", lambda d=damaged: look(d)


def two_models() -> list[DKM]:
    """Of the kind whose files are read fastest; they differ in all that they hold."""
    rows = np.load(GOLDEN / "format-5" / "expected.npz")["rows"]
    quick = {"hidden_layers": (3,), "epochs": 1, "pretrain_epochs": 1}
    return [DKM(k, encoding_dim=k, random_state=k, **quick).fit(rows) for k in (2, 3)]


def one_of(models: list[DKM], path: Path) -> int:
    """Which of the models, by its number of clusters; an error if it is none."""
    found = DKM.load(path)
    known = {model.n_clusters: model for model in models}[found.n_clusters]
    for name in ("embedding_", "cluster_centers_", "labels_"):
        same = np.array_equal(getattr(found, name), getattr(known, name))
        assert same, "a mixture of two models"
    return found.n_clusters


_NAMES = ["a.csv", "a b.csv", "[x].csv", "g*.csv", "ä.csv", "-o.csv", "new\nline.csv"]
_CELLS = ["1", "2.5", "-3", "", "NA", "x", "1e400", "9" * 40, '"', "=1", "\x1b[2J", "ÿ"]


def _table(rng: np.random.Generator) -> bytes:
    n_rows, n_columns = int(rng.integers(0, 12)), int(rng.integers(1, 5))
    odd = float(rng.choice([0, 0, 0.02, 0.3]))
    lines = [",".join(f"c{i}" for i in range(n_columns))]
    for _ in range(n_rows):
        width = n_columns + int(rng.random() < odd)
        cells = [
            _CELLS[int(rng.integers(len(_CELLS)))] if rng.random() < odd else f"{v:.3f}"
            for v in rng.standard_normal(width)
        ]
        lines.append(",".join(cells))
    raw = ("\n".join(lines) + "\n").encode()
    return _damaged_bytes(raw, rng) if rng.random() < 0.3 else raw


def _array(rng: np.random.Generator, path: Path) -> Path:
    kind = int(rng.integers(8))
    rows = rng.standard_normal((20, 3))
    if kind == 0:
        np.save(path := path.with_suffix(".npy"), rows)
    elif kind == 1:
        np.savez(path := path.with_suffix(".npz"), X=rows)
    elif kind == 2:
        objects = np.array([{}, None], dtype=object)
        np.savez(path := path.with_suffix(".npz"), X=rows, y=objects)
    elif kind == 3:
        pl.DataFrame(rows).write_parquet(path := path.with_suffix(".parquet"))
    elif kind == 4:
        pl.DataFrame(rows).write_ipc(path := path.with_suffix(".arrow"))
    elif kind == 5:
        path = path.with_suffix(".csv.gz")
        path.write_bytes(gzip.compress(_table(rng)))
    elif kind == 6:
        path = path.with_suffix(".csv.zst")
        path.write_bytes(pyarrow.compress(_table(rng), "zstd", asbytes=True))
    else:
        np.save(path := path.with_suffix(".npy"), rows.astype(object))
    if rng.random() < 0.5:
        path.write_bytes(_damaged_bytes(path.read_bytes(), rng))
    return path


_QUICK = ["--epochs", "1", "--members", "1", "--seed", "0", "--no-report", "--quiet"]
_OPTIONS = [
    ["--columns", "c0,c0"],
    ["--columns", "c9"],
    ["--drop", "c0"],
    ["--id-column", "c0"],
    ["--labels", "c1"],
    ["--scale", "log"],
    ["--n-landmarks", "2"],
    ["-k", "99"],
    ["--columns", ""],
    [],
    [],
]


@contextmanager
def _standard_error() -> Iterator[Callable[[], str]]:
    """What libraries write to the process's standard error, past Python."""
    file, own = os.memfd_create("stderr"), os.dup(2)
    os.dup2(file, 2)
    text = ""
    try:
        yield lambda: text
    finally:
        os.dup2(own, 2)
        text = os.pread(file, 10_000, 0).decode(errors="replace")
        os.close(file)
        os.close(own)


def command_lines(rng: np.random.Generator, folder: Path) -> Cases:
    """Exit code 0 or 2, one line of error, nothing left over."""
    runner = CliRunner()
    np.save(folder / "good.npy", rng.standard_normal((60, 3)))
    fitted = ["fit", str(folder / "good.npy"), "-k", "2", "-o", str(folder / "run")]
    assert runner.invoke(app, [*fitted, *_QUICK]).exit_code == 0

    def command(arguments: list[str], out: Path) -> None:
        with _standard_error() as beside:
            done = runner.invoke(app, arguments)
        assert not beside(), f"beside the command: {beside()[:200]}"
        error = done.exception
        if error is not None and not isinstance(error, SystemExit):
            raise error
        assert done.exit_code in (0, 2), f"exit code {done.exit_code}"
        if done.exit_code == 2:
            assert "Traceback" not in done.stderr
            assert not out.exists(), "something was written"
        assert "\x1b" not in done.stderr, "an escape"
        assert not list(folder.glob(".*")), "leftovers"

    while True:
        place = folder / "data"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        path = place / _NAMES[int(rng.integers(len(_NAMES)))]
        if rng.random() < 0.6:
            path.write_bytes(_table(rng))
        else:
            path = _array(rng, path)
        more = _OPTIONS[int(rng.integers(len(_OPTIONS)))]
        out = place / "out"
        if rng.random() < 0.5:
            line = ["fit", "-k", "2", "-o", str(out), *_QUICK, *more, "--", str(path)]
        else:
            line = ["predict", "-q", "-o", str(out), str(folder / "run"), str(path)]
        yield " ".join(line), lambda a=line, o=out: command(a, o)
