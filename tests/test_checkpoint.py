"""A fit that was killed goes on, and ends as if nothing had happened."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from scedae import SCEDAE
from scedae._autoencoder import training as training_module
from scedae._rows import stream
from scedae._storage import checkpoint as _checkpoint
from scedae.report import recipe
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


def test_a_damaged_file_costs_its_training_alone(blobs, tmp_path, trained, caplog):
    first = model(tmp_path).fit(blobs[0])
    path = next(tmp_path.glob("trained-*"))
    path.write_bytes(path.read_bytes()[:100])
    trained.clear()
    again = model(tmp_path).fit(blobs[0])
    assert set(trained) == {1}  # one member, alone
    assert "starts again" in caplog.text
    np.testing.assert_array_equal(again.embedding_, first.embedding_)


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
