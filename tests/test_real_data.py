"""Quality on real and generated data, with margins below what was measured."""

import numpy as np
import pytest

from scedae import SCEDAE, LandmarkSpectralClustering, datasets
from scedae.metrics import clustering_accuracy, evaluate


def test_digits_with_the_default_recipe():
    X, y = datasets.load_digits()
    assert clustering_accuracy(y, SCEDAE(10, random_state=0).fit_predict(X)) > 0.85


# The first kind stands for the others, which `make test-slow` runs.
KINDS = [
    pytest.param(kind, marks=[pytest.mark.slow] if i else [])
    for i, kind in enumerate(datasets.LIFTS)
]


@pytest.mark.parametrize("name", ["tetra", "chainlink"])
@pytest.mark.parametrize("kind", KINDS)
def test_lifted_shapes_are_separated(name, kind):
    H, y = getattr(datasets, f"make_{name}")(300, random_state=0)
    X = datasets.lift(H, kind, random_state=0)
    model = SCEDAE(len(np.unique(y)), random_state=0, epochs=150)
    assert clustering_accuracy(y, model.fit_predict(X)) > 0.97


@pytest.mark.data
def test_landmark_spectral_clustering_beats_its_rows_on_pendigits(data_folder):
    X, y = datasets.load_pendigits("train")
    labels = LandmarkSpectralClustering(10, random_state=0).fit_predict(X)
    assert evaluate(y, labels)["nmi"] > 0.75


@pytest.mark.data
@pytest.mark.slow
def test_new_rows_of_pendigits(data_folder):
    """Small networks, so that this runs in seconds; the slow test has the large."""
    check_new_rows({"hidden_layers": (50, 75, 100), "epochs": 20}, margin=0.05)


@pytest.mark.data
@pytest.mark.slow
def test_new_rows_of_pendigits_with_the_default_recipe(data_folder):
    assert check_new_rows({}, margin=0.03) > 0.85


def check_new_rows(settings, margin):
    X, y = datasets.load_pendigits("train")
    new_X, new_y = datasets.load_pendigits("test")
    model = SCEDAE(10, random_state=0, **settings).fit(X)
    assert (model.predict(X) == model.labels_).all()
    train = clustering_accuracy(y, model.labels_)
    assert clustering_accuracy(new_y, model.predict(new_X)) > train - margin
    return train
