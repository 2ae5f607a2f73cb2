"""Every writer when something fails: one error, the former file, nothing else left."""

import json

import numpy as np
import pytest
import torch

from scedae import SCEDAE
from scedae._autoencoder import Encoder, TrainedRun, TrainingOptions, TrainingRun
from scedae._rows.results import write_result
from scedae._rows.scaling import Scaler
from scedae._storage.checkpoint import Checkpoint, remembered_seed
from scedae.cli.output import new_folder, new_labels, write_labels, write_record
from scedae.experiments.store import Store
from scedae.report import write_report
from tests.faults import KINDS
from tests.golden.make import HERE as GOLDEN

# No writer does so many things.
MOST = 3000


@pytest.fixture(scope="module")
def model():
    return SCEDAE.load(GOLDEN / "format-5" / "SCEDAE.scedae")


@pytest.fixture(scope="module")
def rows():
    return np.load(GOLDEN / "format-5" / "expected.npz")["rows"]


def labels_of(model, version):
    n_rows = len(model.labels_)
    return [(np.arange(n_rows) + version, model.labels_, model.confidence_)]


def write_run(folder, model, version):
    with new_folder(folder / "run", force=True) as new:
        model.save(new / "model.scedae")
        with (new / "labels.csv").open("w") as file:
            write_labels(file, labels_of(model, version))
        about = {"estimator": "SCEDAE", "versions": {"scedae": "0"}, "n": version}
        write_record(new / "run.json", about)


def write_predictions(folder, model, version):
    with new_labels(folder / "labels.csv", force=True, inputs=[]) as file:
        write_labels(file, labels_of(model, version))


def a_checkpoint(folder):
    ones = torch.ones(3, dtype=torch.float64)
    options = TrainingOptions(2, 8, 1e-3, "constant", bounded=False)
    scaler = Scaler("none", False, ones, ones)
    return Checkpoint(folder, "rows", scaler, options, "cpu")


RUN = TrainingRun((4,), 0, (2,))


def trained(version):
    layers = [(3, 4), (4, 2)]
    encoder = Encoder(
        tuple(
            (torch.full(shape, float(version)), torch.zeros(shape[1]))
            for shape in layers
        )
    )
    history = [{"epoch": e, "loss": 1.0} for e in (1, 2)]
    return TrainedRun({2: encoder}, history)


def checkpointed(folder):
    found = a_checkpoint(folder).finished(RUN)
    return None if found is None else float(found.encoders[2].layers[0][0][0, 0])


def record(version):
    return {"experiment": "e", "data": "d", "n": version, "text": "x" * 1500}


# Each writes a version of something into a folder, and says which version it finds.
WRITERS = {
    "save": (
        lambda folder, m, v: vars(m).update(seed_=v) or m.save(folder / "model"),
        lambda folder: SCEDAE.load(folder / "model").seed_,
    ),
    "run": (
        write_run,
        lambda folder: json.loads((folder / "run" / "run.json").read_text())["n"],
    ),
    "labels": (
        write_predictions,
        lambda folder: int((folder / "labels.csv").read_text().split("\n")[1][0]),
    ),
    "checkpoint": (
        lambda folder, m, v: a_checkpoint(folder).finish(RUN, trained(v)),
        checkpointed,
    ),
    "predict with out": (
        lambda folder, m, v: write_result(np.full(400, v), folder / "out.npy"),
        lambda folder: int(np.load(folder / "out.npy").mean()),
    ),
}


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class Swallowed:
    """A fault, and the error that came of it."""

    def __init__(self, kind, number):
        self._inject, self.error_seen = kind(number), None

    def __enter__(self):
        self._inject.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        self.error_seen = error
        try:
            self._inject.__exit__(kind, error, trace)
        except BaseException as same:
            assert same is error
        return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRITERS)
def test_whatever_fails_a_file_is_the_former_or_the_new_one(
    name, kind, model, tmp_path
):
    write, read = WRITERS[name]
    write(tmp_path, model, 1)
    before = everything(tmp_path)
    # A whole run makes over a thousand calls: one in thirteen is enough here.
    step = {"run": 13, "save": 5}.get(name, 1) if kind == "no memory" else 1
    for number in range(1, MOST, step):
        with Swallowed(KINDS[kind], number) as fault:
            write(tmp_path, model, 2)
        if fault.error_seen is None:
            break
        assert isinstance(fault.error_seen, OSError | MemoryError), fault.error_seen
        assert str(fault.error_seen)
        assert everything(tmp_path) == before
        assert read(tmp_path) in (1, 2)
        write(tmp_path, model, 1)  # the next one works
        assert read(tmp_path) == 1
    else:
        raise AssertionError("it never succeeds")
    assert read(tmp_path) == 2
    assert everything(tmp_path) == before


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_fails_no_record_is_lost_or_half_written(kind, tmp_path):
    for number in range(1, MOST):
        folder = tmp_path / str(number)
        store = Store(folder)
        store.append(record(0))
        with Swallowed(KINDS[kind], number) as fault:
            store.append(record(1))
        found = [r["n"] for r in Store(folder).records()]
        assert found in ([0], [0, 1])
        store.append(record(2))  # the same process goes on
        assert [r["n"] for r in store.records()] == [*found, 2]
        if fault.error_seen is None:
            break
    assert found == [0, 1]


@pytest.mark.parametrize("kind", ["fsync: no space", "rename: no space", "no room"])
def test_whatever_fails_the_former_report_is_there(kind, model, rows, tmp_path):
    path = tmp_path / "report.html"
    write_report(model, rows, path)
    before = path.read_bytes()
    with Swallowed(KINDS[kind], 1) as fault:
        write_report(model, rows, path)
    assert isinstance(fault.error_seen, OSError)
    assert path.read_bytes() == before
    assert everything(tmp_path) == ["report.html"]


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_fails_a_seed_is_kept_whole(kind, tmp_path):
    for number in range(1, MOST):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Swallowed(KINDS[kind], number) as fault:
            remembered_seed(folder, "rows", 5)
        assert all(name.startswith("seed-") for name in everything(folder))
        assert remembered_seed(folder, "rows", 6) in (5, 6)
        if fault.error_seen is None:
            break
