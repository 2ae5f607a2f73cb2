"""A fit that was killed goes on, and ends as if nothing had happened."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs

from scedae import SCEDAE
from scedae._autoencoder import training as training_module
from scedae._rows import stream
from scedae._storage import checkpoint as _checkpoint
from scedae._storage.archive import read_archive, write_archive
from scedae._storage.checkpoint import remembered_seed
from scedae.report import recipe
from tests.golden.make import HERE as GOLDEN
from tests.helpers import QUICK

CPU = torch.device("cpu")


def model(folder, **settings):
    return SCEDAE(
        3, **{**QUICK, "random_state": 0, "checkpoint_dir": folder, **settings}
    )


class Killed(BaseException):
    """Ends a fit in the middle, as a signal would."""


@pytest.fixture
def often(monkeypatch):
    """Trainings under way are written after every epoch."""
    monkeypatch.setattr(_checkpoint, "_INTERVAL", 0)


@pytest.fixture
def trained(monkeypatch):
    """How many steps of trainings were taken."""
    steps = []
    run = training_module.StackTraining.run

    def counting(self, slot, n_steps):
        steps.append(self.stack.n_members)
        run(self, slot, n_steps)

    monkeypatch.setattr(training_module.StackTraining, "run", counting)
    return steps


def interrupt_at(monkeypatch, epoch):
    note = _checkpoint.Checkpoint.note

    def noting(self, runs, unfinished):
        note(self, runs, unfinished)
        if unfinished.epoch == epoch:
            raise Killed

    monkeypatch.setattr(_checkpoint.Checkpoint, "note", noting)


@pytest.mark.parametrize("ensemble", ["structure", "epochs"])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_training_under_way_is_taken_up(
    blobs, tmp_path, monkeypatch, often, trained, ensemble, streamed
):
    X = blobs[0]
    if streamed:
        monkeypatch.setattr(stream, "DRAWN_ROWS", 128)
        np.save(tmp_path / "rows.npy", X)
        X = tmp_path / "rows.npy"
    expected = model(None, ensemble=ensemble).fit(X)
    n_steps = len(trained)
    trained.clear()
    with monkeypatch.context() as patch:
        interrupt_at(patch, 13)
        with pytest.raises(Killed):
            model(tmp_path / "there", ensemble=ensemble).fit(X)
    resumed = model(tmp_path / "there", ensemble=ensemble).fit(X)
    assert len(trained) == n_steps  # none was taken twice
    np.testing.assert_array_equal(resumed.labels_, expected.labels_)
    np.testing.assert_array_equal(resumed.confidence_, expected.confidence_)
    assert resumed.members_ == expected.members_


def test_finished_trainings_are_found(blobs, tmp_path, trained):
    first = model(tmp_path).fit(blobs[0])
    trained.clear()
    # Another number of clusters or landmarks needs no other training.
    second = model(tmp_path, n_landmarks=30).fit(blobs[0])
    again = model(tmp_path).fit(blobs[0])
    assert not trained
    np.testing.assert_array_equal(again.embedding_, first.embedding_)
    assert second.members_[0].history == first.members_[0].history


@pytest.mark.parametrize(
    "change", ["rows", "order", "seed", "options", "structure", "scale", "epochs"]
)
def test_nothing_is_taken_from_another_fit(blobs, tmp_path, trained, change):
    X = blobs[0].copy()
    model(tmp_path).fit(X)
    trained.clear()
    settings = {
        "seed": {"random_state": 1},
        "options": {"learning_rate": 1e-3},
        "structure": {"hidden_layers": (8, 8)},
        "scale": {"scale": "minmax"},
        "epochs": {"epochs": 21},
    }.get(change, {})
    if change == "rows":
        X[17, 2] += 1e-3
    if change == "order":
        X = X[::-1].copy()
    found = model(tmp_path, **settings).fit(X)
    assert trained
    expected = model(None, **settings).fit(X)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


def test_a_fit_without_a_seed_goes_on_with_the_one_it_had(blobs, tmp_path, trained):
    first = model(tmp_path, random_state=None).fit(blobs[0])
    trained.clear()
    again = model(tmp_path, random_state=None).fit(blobs[0])
    assert again.seed_ == first.seed_
    assert not trained
    other = model(tmp_path, random_state=None).fit(blobs[0] + 1)
    assert other.seed_ != first.seed_


def flipped(path):
    """One bit of the numbers: before there were checksums, nobody noticed."""
    raw = bytearray(path.read_bytes())
    raw[-5] ^= 16
    path.write_bytes(raw)


def rewritten(change):
    def damage(path):
        archive = read_archive(path)
        info, tensors = archive.info, dict(archive.tensors)
        change(info, tensors)
        write_archive(path, info, tensors)

    return damage


def of_format_4(path):
    path.write_bytes((GOLDEN / "format-4" / "SCEDAE.scedae").read_bytes())


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a flipped bit": flipped,
    "a missing key": rewritten(lambda info, t: info.pop("runs")),
    "a key too many": rewritten(lambda info, t: info.update(code="")),
    "no trainings": rewritten(lambda info, t: info.update(runs=[])),
    "other epochs": rewritten(lambda info, t: info.update(runs=[{"epochs": [3]}])),
    "text for epochs": rewritten(lambda info, t: info.update(runs=[{"epochs": "x"}])),
    "a missing tensor": rewritten(lambda info, t: t.pop("run.0.20.0.weight")),
    "a tensor too many": rewritten(lambda info, t: t.update(more=torch.ones(1))),
    "a short history": rewritten(
        lambda info, t: t.update({"run.0.history": t["run.0.history"][:3].clone()})
    ),
    "another type": rewritten(
        lambda info, t: t.update({"run.0.20.0.bias": t["run.0.20.0.bias"].double()})
    ),
    "not finite": rewritten(lambda info, t: t["run.0.20.0.bias"].fill_(torch.nan)),
    "another format": of_format_4,
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder of finished trainings, and the embedding they led to."""
    folder = tmp_path_factory.mktemp("finished")
    X, _ = make_blobs(240, 6, centers=3, cluster_std=0.6, random_state=0)
    return folder, model(folder).fit(X).embedding_


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_costs_its_training_alone(
    blobs, tmp_path, trained, caplog, finished, damage
):
    folder = shutil.copytree(finished[0], tmp_path / "there")
    path = next(folder.glob("trained-*"))
    DAMAGES[damage](path)
    if damage == "a folder":
        # Nothing can be written there: that is an error, and no folder is deleted.
        with pytest.raises(OSError):
            model(folder).fit(blobs[0])
        return
    again = model(folder).fit(blobs[0])
    assert set(trained) == {1}  # one member, alone
    assert "starts again" in caplog.text
    np.testing.assert_array_equal(again.embedding_, finished[1])
    assert read_archive(path).tensors  # the file is whole again


def a_state_of_another_shape(info, tensors):
    tensors["state.1"] = torch.zeros(1)


UNFINISHED = {
    "cut": DAMAGES["cut"],
    "a flipped bit": flipped,
    "a missing key": rewritten(lambda info, t: info.pop("epoch")),
    "an epoch too late": rewritten(lambda info, t: info.update(epoch=20)),
    "another epoch": rewritten(lambda info, t: info.update(epoch=3)),
    "no tensors": rewritten(lambda info, t: info.update(n_tensors=0)),
    "a tensor too few": rewritten(
        lambda info, t: (info.update(n_tensors=5), t.pop("state.5"))
    ),
    "a state of another shape": rewritten(a_state_of_another_shape),
}


@pytest.mark.parametrize("damage", UNFINISHED)
def test_damage_to_a_training_under_way_costs_that_training(
    blobs, tmp_path, monkeypatch, often, finished, damage
):
    with monkeypatch.context() as patch:
        interrupt_at(patch, 13)
        with pytest.raises(Killed):
            model(tmp_path).fit(blobs[0])
    for path in tmp_path.glob("unfinished-*"):
        UNFINISHED[damage](path)
    resumed = model(tmp_path).fit(blobs[0])
    np.testing.assert_array_equal(resumed.embedding_, finished[1])
    assert not list(tmp_path.glob("unfinished-*"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b'{"seed": "x"}',
        b'{"seed": -1}',
        b'{"seed": 3}',
        b'{"seed": 3, "check": "0"}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
    ids=lambda c: repr(c[:20]),
)
def test_a_damaged_seed_costs_the_seed_alone(tmp_path, content, caplog):
    assert remembered_seed(tmp_path, "rows", 1) == 1
    (tmp_path / "seed-rows.json").write_bytes(content)
    assert remembered_seed(tmp_path, "rows", 2) == 2
    assert "another seed is drawn" in caplog.text
    assert remembered_seed(tmp_path, "rows", 3) == 2


@pytest.mark.parametrize("name", ["__version__", "_TRAINING"])
def test_another_version_takes_nothing_up(blobs, tmp_path, trained, monkeypatch, name):
    model(tmp_path).fit(blobs[0])
    trained.clear()
    monkeypatch.setattr(_checkpoint, name, "other")
    model(tmp_path).fit(blobs[0])
    assert trained


def test_the_folder(blobs, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="name a folder"):
        model(tmp_path / "file").fit(blobs[0])
    fitted = model(tmp_path / "new" / "folder").fit(blobs[0])
    fitted.save(tmp_path / "model.scedae")
    assert str(tmp_path).encode() not in (tmp_path / "model.scedae").read_bytes()
    assert str(tmp_path) not in recipe.code(fitted)
    assert SCEDAE.load(tmp_path / "model.scedae").checkpoint_dir is None


# A fit in a process of its own that kills itself, as ``kill -9`` would, at the third
# call of the function named.
FIT = """
import os, signal, sys
import numpy as np
from scedae import SCEDAE, _fusion, _pipeline
from scedae._storage import archive as _archive, checkpoint as _checkpoint
from scedae._autoencoder import training
from scedae._rows import stored, stream

_checkpoint._INTERVAL = 0
stream.DRAWN_ROWS, stream._BLOCK_ROWS = 2000, 1000
places = {
    "step": (training.StackTraining, "run"),
    "epoch": (_checkpoint.Checkpoint, "note"),
    "rename": (_archive.os, "replace"),
    "finish": (_checkpoint.Checkpoint, "finish"),
    "fuse": (_fusion, "landmark_sums"),
    "assign": (_pipeline, "assign_rows"),
}

def deadly(function, calls=[]):
    def dying(*arguments, **named):
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)
    return dying

path, folder, out, moment = sys.argv[1:]
if moment:
    where, name = places[moment]
    setattr(where, name, deadly(getattr(where, name)))
model = SCEDAE(
    3, hidden_layers=(300, 30), n_members=4, epochs=6, encoding_dim=3, n_landmarks=50,
    random_state=0, checkpoint_dir=folder or None,
)
np.save(out, model.fit(path).labels_)
"""


def killed_fits(tmp_path, rng, moments):
    """Labels of an undisturbed fit, and of one killed at each moment in turn."""
    X = rng.standard_normal((5000, 16)).astype(np.float32)
    X[::2, :4] += 4
    np.save(tmp_path / "rows.npy", X)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def fit(folder, out, moment):
        command = [sys.executable, "-c", FIT, tmp_path / "rows.npy", folder, out]
        return subprocess.run([*command, moment], env=environment).returncode

    assert fit("", tmp_path / "undisturbed.npy", "") == 0
    for moment in moments:
        code = fit(tmp_path / "there", tmp_path / "disturbed.npy", moment)
        assert code == -signal.SIGKILL, moment
    assert fit(tmp_path / "there", tmp_path / "disturbed.npy", "") == 0
    return np.load(tmp_path / "undisturbed.npy"), np.load(tmp_path / "disturbed.npy")


@pytest.mark.slow
def test_kill_9_in_the_middle_of_training(tmp_path, rng):
    undisturbed, disturbed = killed_fits(tmp_path, rng, ["epoch"])
    np.testing.assert_array_equal(undisturbed, disturbed)


@pytest.mark.slow
def test_kill_9_at_several_moments(tmp_path, rng):
    """Each fit takes up what the one before had done, until it is killed itself."""
    moments = ["step", "epoch", "rename", "epoch", "finish", "fuse", "assign"]
    undisturbed, disturbed = killed_fits(tmp_path, rng, moments)
    np.testing.assert_array_equal(undisturbed, disturbed)
    # Only whole files count; the one that was being written lies beside them.
    assert len(list((tmp_path / "there").glob("trained-*.scedae"))) == 4
