"""Chances of clusters: those of the labels, in any company, calibrated, kept."""

import warnings

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec, datasets
from scedae._defaults import Refining, StudentPlan
from scedae.exceptions import ModelFileError
from tests.helpers import ESTIMATORS, SPECTRAL
from tests.test_persistence import rewrite


@pytest.fixture(scope="module")
def models(spectral_models, overlapping):
    """One of each kind, and one whose answer was refined."""
    with pytest.MonkeyPatch.context() as patch:  # a small network, and few steps
        plan = StudentPlan(2, 32, 64, 2e-3, 200)
        patch.setattr(Refining, "student", lambda *_: plan)
        refined = ESTIMATORS["SCEDAE"](k=3, refine=True).fit(overlapping)
    assert refined.refinement_.kept
    return {**spectral_models, "refined": refined}


every_model = pytest.mark.parametrize("name", [*SPECTRAL, "refined"])


@every_model
def test_chances_are_those_of_the_labels(models, overlapping, name):
    model = models[name]
    found = model.predict_proba(overlapping)
    assert found.shape == (len(overlapping), len(model.cluster_centers_))
    np.testing.assert_allclose(found.sum(1), 1, rtol=0, atol=1e-12)
    assert found.min() >= 0
    assert (found.argmax(1) == model.labels_).all()
    assert (found == model.probabilities_).all()
    # Some rows are in doubt, and doubt and confidence put them into one order.
    assert found.max(1).min() < 0.9
    order = np.argsort(model.confidence_)
    chance = found.max(1)[order]
    free = chance > found[order].min(1) + 0.3  # where the label need not be helped
    assert (np.diff(chance[free & (chance > 0.6)]) >= -1e-12).all()


@every_model
def test_a_row_has_its_chances_in_any_company(models, overlapping, name, tmp_path):
    model = models[name]
    whole = model.probabilities_
    for rows in (slice(0, 1), slice(5, 50), slice(None, None, 7)):
        assert (model.predict_proba(overlapping[rows]) == whole[rows]).all()
    np.save(tmp_path / "rows.npy", overlapping)
    stored = model.predict_proba(tmp_path / "rows.npy", out=tmp_path / "chances.npy")
    assert (np.load(tmp_path / "chances.npy") == whole).all()
    assert (stored == whole).all()
    assert (model.predict_proba(sp.csr_array(overlapping)) == whole).all()
    lazy = model.predict_proba(da.from_array(overlapping, chunks=(77, 5)))
    assert lazy.shape == whole.shape
    assert (lazy.compute() == whole).all()


def test_a_fit_on_a_stream_predicts_and_keeps_none(overlapping, monkeypatch):
    model = ESTIMATORS["LandmarkSpectralClustering"]()
    model.fit(overlapping).fit(da.from_array(overlapping, chunks=(100, 5)))
    assert not hasattr(model, "probabilities_")  # nor those of the fit before
    found = np.asarray(model.predict_proba(overlapping))
    assert (found.argmax(1) == np.asarray(model.labels_)).all()


@every_model
def test_a_loaded_model_gives_the_same(models, overlapping, name, tmp_path):
    model = models[name]
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert (loaded.probabilities_ == model.probabilities_).all()
    assert (loaded.predict_proba(overlapping) == model.probabilities_).all()


def _fall(info, tensors):
    tensors["calibration.chance"] = tensors["calibration.chance"].flip(0)


def _stand_still(info, tensors):
    tensors["calibration.confidence"][:] = 0.5


def _other_labels(info, tensors):
    tensors["probabilities"] = tensors["probabilities"].roll(1, 1)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_fall, "does not rise"),
        (_stand_still, "does not rise"),
        (_other_labels, "not those of its labels"),
        (lambda info, t: t.pop("probabilities"), "lacks the tensor"),
        (lambda info, t: t.pop("calibration.chance"), "lacks the tensor"),
        (
            lambda info, t: t.update(
                {"calibration.chance": t["calibration.chance"] + torch.ones(1)}
            ),
            "beyond its range",
        ),
    ],
)
def test_a_file_with_other_chances_is_refused(models, tmp_path, damage, message):
    path = tmp_path / "model"
    models["LandmarkSpectralClustering"].save(path)
    rewrite(path, damage)
    with pytest.raises(ModelFileError, match=message):
        LandmarkSpectralClustering.load(path)


def test_a_file_from_before_says_what_it_lacks(models, overlapping, tmp_path):
    def before(info, tensors):
        del info["model"]["pipeline"]["calibrated"]
        for name in ("calibration.confidence", "calibration.chance", "probabilities"):
            del tensors[name]

    path = tmp_path / "model"
    model = models["LandmarkSpectralClustering"]
    model.save(path)
    rewrite(path, before)
    loaded = LandmarkSpectralClustering.load(path)
    assert not hasattr(loaded, "probabilities_")
    assert (loaded.predict(overlapping) == model.labels_).all()
    with pytest.raises(AttributeError, match="Fit again"):
        loaded.predict_proba(overlapping)
    loaded.save(path)  # and it can be written again
    assert LandmarkSpectralClustering.load(path).n_clusters_ == model.n_clusters_


def test_one_cluster_and_rows_that_are_all_equal():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = LandmarkSpectralClustering(1, random_state=0).fit(np.eye(40))
        equal = LandmarkSpectralClustering(3, random_state=0).fit(np.ones((40, 2)))
    assert (one.probabilities_ == 1).all()
    assert (equal.probabilities_.argmax(1) == equal.labels_).all()
    np.testing.assert_allclose(equal.probabilities_.sum(1), 1)


@pytest.mark.slow
def test_chances_come_true():
    """Digits by members on the rows: as many labels are right as the chances say."""
    X, y = datasets.load_digits()
    members = [MemberSpec((), 0, 600, seed) for seed in range(4)]
    model = SCEDAE(10, ensemble=members, random_state=0).fit(X)
    ours, theirs = linear_sum_assignment(-contingency_matrix(model.labels_, y))
    right = theirs[model.labels_] == y
    assert ours.tolist() == list(range(10))
    assert right.mean() > 0.9
    chance = model.probabilities_.max(1)
    groups = np.minimum((15 * chance).astype(int), 14)
    gaps = np.bincount(groups, chance - right, 15)
    assert np.abs(gaps).sum() / len(y) < 0.06  # expected calibration error
    doubtful = chance < np.quantile(chance, 0.1)
    assert right[doubtful].mean() < 0.85 < right[~doubtful].mean()
