"""Estimators on a GPU, and the tail of the method on both devices."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE
from scedae._autoencoder import TrainingOptions
from scedae._members import plan_members
from scedae._progress import Progress
from scedae._rows import MemoryRows, fit_scaler, gather_statistics, stream
from scedae._storage import checkpoint as _checkpoint
from scedae.datasets import load_digits
from scedae.internal import (
    CodeRows,
    Prepared,
    Scale,
    Tail,
    cluster_members,
    encode_members,
)
from tests.helpers import ESTIMATORS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here"),
]

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_new_rows_and_seeds(name, blobs):
    X, _ = blobs
    model = ESTIMATORS[name](device="cuda").fit(X)
    assert (model.predict(X) == model.labels_).all()
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    again = ESTIMATORS[name](device="cuda").fit(X)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


@pytest.mark.parametrize("name", ["SCEDAE", "LandmarkSpectralClustering"])
def test_confidence(name, blobs):
    X, _ = blobs
    model = ESTIMATORS[name](k=5, device="cuda").fit(X)
    np.testing.assert_array_equal(model.predict_confidence(X), model.confidence_)
    model.set_params(device="cpu")
    # A row on the border may change sides by a rounding: its doubt may not.
    difference = np.abs(model.predict_confidence(X) - model.confidence_)
    assert np.median(difference) < 1e-4


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_of_the_gpu_works_on_a_cpu(name, blobs, tmp_path):
    X, _ = blobs
    model = ESTIMATORS[name](device="cuda").fit(X)
    model.save(tmp_path / "m.scedae")
    loaded = type(model).load(tmp_path / "m.scedae", device="cpu")
    assert (loaded.predict(X) == model.labels_).all()


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
def test_precisions(precision, blobs):
    X, y = blobs
    model = SCEDAE(
        3, hidden_layers=(12, 8), epochs=20, precision=precision, random_state=0
    )
    assert adjusted_rand_score(y, model.fit_predict(X)) == 1


def test_the_same_encodings_give_the_same_labels_on_both_devices():
    X, _ = load_digits()
    rows = MemoryRows(X, GPU).brought()
    scaler = fit_scaler(gather_statistics(rows), "auto")
    specs = plan_members("structure", None, (48, 72, 96), 100, 250)
    options = TrainingOptions(10, 224, 2e-3, "one-cycle", True, "tf32")
    encoded = encode_members(Prepared(rows, scaler, specs, options, seed=0))
    moved = [replace(m, encoding=CodeRows(m.codes.cpu())) for m in encoded.members]
    labels = [
        cluster_members(
            ensemble, scaler, 10, Tail((Scale(3),), "diffusion"), 0, Progress()
        ).labels
        for ensemble in (encoded, replace(encoded, members=moved))
    ]
    assert adjusted_rand_score(*labels) >= 0.99


def test_a_gram_matrix_too_large_for_the_gpu_goes_to_the_host(blobs, monkeypatch):
    X, _ = blobs
    # Fewer landmarks than rows: the others are seen from the rows, on the host.
    settings = {"device": "cuda", "n_landmarks": 20, "n_members": 3, "n_row_members": 0}
    expected = ESTIMATORS["SCEDAE"](**settings).fit_predict(X)
    monkeypatch.setattr("scedae._spectral.gram._MEMORY_SHARE", 0)
    found = ESTIMATORS["SCEDAE"](**settings).fit_predict(X)
    assert adjusted_rand_score(expected, found) == 1


def test_rows_in_a_file(blobs, tmp_path, monkeypatch):
    """Draws, sums and labels of streamed rows, as on a CPU."""
    X, y = blobs
    np.save(tmp_path / "rows.npy", X)
    monkeypatch.setattr(stream, "DRAWN_ROWS", 128)
    model = ESTIMATORS["SCEDAE"](device="cuda").fit(tmp_path / "rows.npy")
    again = ESTIMATORS["SCEDAE"](device="cuda").fit(tmp_path / "rows.npy")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert adjusted_rand_score(model.labels_, y) > 0.99


def test_a_training_under_way_is_taken_up(blobs, tmp_path, monkeypatch):
    expected = ESTIMATORS["SCEDAE"](device="cuda").fit(blobs[0])
    monkeypatch.setattr(_checkpoint, "_INTERVAL", 0)
    note = _checkpoint.Checkpoint.note

    def noting(self, runs, unfinished):
        note(self, runs, unfinished)
        if unfinished.epoch == 13:
            raise KeyboardInterrupt

    model = ESTIMATORS["SCEDAE"](device="cuda", checkpoint_dir=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint.Checkpoint, "note", noting)
        with pytest.raises(KeyboardInterrupt):
            model.fit(blobs[0])
    np.testing.assert_array_equal(model.fit(blobs[0]).embedding_, expected.embedding_)


@pytest.mark.parametrize("name", ["SCEDAE", "LandmarkSpectralClustering"])
def test_chances_layers_and_novelty(name, blobs, tmp_path):
    X, _ = blobs
    model = ESTIMATORS[name](k=5, device="cuda").fit(X)
    np.testing.assert_array_equal(model.predict_proba(X), model.probabilities_)
    assert (model.probabilities_.argmax(1) == model.labels_).all()
    for layer in (2, 5, len(model.linkage_) + 1):
        assert (model.predict(X, layer=layer) == model.labels_at(layer)).all()
    assert (model.predict(X, reject=0.2) == -1).mean() <= 0.21
    model.save(tmp_path / "m.scedae")
    loaded = type(model).load(tmp_path / "m.scedae", device="cpu")
    difference = np.abs(loaded.novelty_score(X) - model.novelty_score(X))
    assert np.median(difference) < 1e-3
