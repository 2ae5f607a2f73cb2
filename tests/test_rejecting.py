"""Rows without a label: those in doubt, and those unlike all others."""

import dask.array as da
import numpy as np
import pytest
import torch
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec, datasets
from scedae._spectral import Neighbors, distance_ratio, usual_distances
from scedae.exceptions import ModelFileError
from tests.helpers import SPECTRAL
from tests.test_persistence import rewrite


@pytest.fixture
def models(spectral_models):
    return spectral_models


every_model = pytest.mark.parametrize("name", SPECTRAL)


@every_model
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_least_sure_rows_are_rejected_at_the_rate(models, overlapping, name, share):
    model = models[name]
    labels = model.predict(overlapping, reject=share)
    rejected = labels == -1
    assert rejected.mean() == pytest.approx(share, abs=0.01)
    assert (labels[~rejected] == model.labels_[~rejected]).all()
    sure = model.confidence_
    assert sure[rejected].max() < sure[~rejected].min()


def test_nobody_is_rejected_unless_asked_for(models, overlapping):
    model = models["SCEDAE"]
    for none in (None, 0, 0.0):
        assert (model.predict(overlapping, reject=none) == model.labels_).all()


@pytest.mark.parametrize("wrong", [-0.1, 0.51, 1, True, "0.1", float("nan")])
def test_other_shares_are_refused(models, overlapping, wrong):
    model = models["LandmarkSpectralClustering"]
    with pytest.raises(ValueError, match=r"from 0 to 0\.5"):
        model.predict(overlapping, reject=wrong)
    with pytest.raises(ValueError, match=r"from 0 to 0\.5"):
        model.predict_with_confidence(overlapping, reject=wrong)


@every_model
def test_files_dask_and_company(models, overlapping, name, tmp_path):
    model = models[name]
    labels = model.predict(overlapping, reject=0.1)
    novelty = model.novelty_score(overlapping)
    for rows in (slice(0, 1), slice(5, 50)):
        assert (model.predict(overlapping[rows], reject=0.1) == labels[rows]).all()
        assert (model.novelty_score(overlapping[rows]) == novelty[rows]).all()
    np.save(tmp_path / "rows.npy", overlapping)
    model.predict(tmp_path / "rows.npy", reject=0.1, out=tmp_path / "labels.npy")
    assert (np.load(tmp_path / "labels.npy") == labels).all()
    lazy = da.from_array(overlapping, chunks=(77, 5))
    assert (model.predict(lazy, reject=0.1).compute() == labels).all()
    assert (model.novelty_score(lazy).compute() == novelty).all()
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert (loaded.predict(overlapping, reject=0.1) == labels).all()
    assert (loaded.novelty_score(overlapping) == novelty).all()


@every_model
def test_half_of_the_rows_are_usual_and_far_ones_are_not(models, overlapping, name):
    model = models[name]
    novelty = model.novelty_score(overlapping)
    assert novelty.min() >= 0
    assert np.median(novelty) == pytest.approx(1, abs=0.25)
    # To the sides of the rows; beyond their range scaling would cut them off.
    middle = overlapping.mean(0)
    far = overlapping[:20].copy()
    far[:, ::2] = overlapping.max(0)[::2]
    far[:, 1::2] = overlapping.min(0)[1::2]
    assert np.median(model.novelty_score(far)) > np.quantile(novelty, 0.95)
    assert model.novelty_score(middle[None])[0] < model.novelty_score(far).max()


def test_a_class_left_out_is_new():
    """Digits without the 0: better than a forest and a distance between rows."""
    X, y = datasets.load_digits()
    known = np.flatnonzero(y != 0)
    learnt, other = known[::2], known[1::2]
    asked = np.concatenate([other, np.flatnonzero(y == 0)])
    is_new = y[asked] == 0
    members = [MemberSpec((), 0, 400, seed) for seed in range(2)]
    model = SCEDAE(9, ensemble=members, n_neighbors=5, random_state=0).fit(X[learnt])
    found = roc_auc_score(is_new, model.novelty_score(X[asked]))
    forest = IsolationForest(n_estimators=30, random_state=0).fit(X[learnt])
    by_forest = roc_auc_score(is_new, -forest.score_samples(X[asked]))
    nearest = NearestNeighbors(n_neighbors=1).fit(X[learnt])
    by_rows = roc_auc_score(is_new, nearest.kneighbors(X[asked])[0][:, 0])
    assert found > by_forest
    assert found > by_rows - 0.005
    assert found > 0.99


def test_usual_distances_against_a_loop(rng):
    columns = torch.from_numpy(rng.integers(0, 6, (50, 3)))
    squared = torch.from_numpy(rng.random((50, 3))).sort(1).values
    found = usual_distances(Neighbors(columns.int(), squared), 8)
    d = squared.sqrt().numpy()
    local = []
    for p in range(8):
        near = [d[i].mean() for i in range(50) for j in range(3) if columns[i, j] == p]
        local.append((sum(near) + 2 * d.mean()) / (len(near) + 2))
    want = np.sqrt(np.array(local) * d.mean())
    ratios = d[:, 0] / want[columns.numpy()].mean(1)
    np.testing.assert_allclose(found, want * np.median(ratios))
    ratio = distance_ratio(Neighbors(columns.int(), squared), found)
    assert np.median(ratio.numpy()) == pytest.approx(1)
    on_the_spot = Neighbors(columns.int(), torch.zeros_like(squared))
    assert usual_distances(on_the_spot, 8).tolist() == [1] * 8


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda info, t: t.update(doubt=t["doubt"].flip(0)), "quantiles .* fall"),
        (lambda info, t: t.pop("doubt"), "lacks the tensor"),
        (lambda info, t: t["member.0.usual"].zero_(), "beyond its range"),
        (lambda info, t: info["model"]["pipeline"].pop("doubt"), "nothing needs"),
    ],
)
def test_a_damaged_file_is_refused(models, tmp_path, damage, message):
    path = tmp_path / "model"
    models["LandmarkSpectralClustering"].save(path)
    rewrite(path, damage)
    with pytest.raises(ModelFileError, match=message):
        LandmarkSpectralClustering.load(path)


def test_a_file_from_before(models, overlapping, tmp_path):
    def before(info, tensors):
        pipeline = info["model"]["pipeline"]
        del pipeline["doubt"], pipeline["members"][0]["usual"]
        del tensors["doubt"], tensors["member.0.usual"]

    path = tmp_path / "model"
    model = models["LandmarkSpectralClustering"]
    model.save(path)
    rewrite(path, before)
    loaded = LandmarkSpectralClustering.load(path)
    # Confidence of the training rows is there: it tells as much.
    want = model.predict(overlapping, reject=0.1)
    assert (loaded.predict(overlapping, reject=0.1) == want).all()
    with pytest.raises(AttributeError, match="Fit again"):
        loaded.novelty_score(overlapping)
    del loaded.confidence_
    with pytest.raises(AttributeError, match="Fit again"):
        loaded.predict(overlapping, reject=0.1)
