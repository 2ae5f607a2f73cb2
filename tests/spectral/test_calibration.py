"""What confidence is worth, and chances that lead where the label is."""

import numpy as np
import pytest
import torch
from sklearn.isotonic import IsotonicRegression

from scedae._spectral.calibration import (
    Calibration,
    calibrate,
    probabilities,
    renamed,
)


def test_the_calibration_is_isotonic_regression_of_groups(rng):
    confidence = rng.random(600)
    held = (rng.random(600) < confidence**2).astype(float)
    found = calibrate(confidence, held)
    groups = np.array_split(np.argsort(confidence), 20)
    knots = [confidence[g].mean() for g in groups]
    means = [held[g].mean() for g in groups]
    np.testing.assert_allclose(found.confidence, knots)
    np.testing.assert_allclose(
        found.chance, IsotonicRegression().fit_transform(knots, means)
    )
    asked = np.array([0.0, 0.3, knots[4], 0.77, 1.0])
    want = np.interp(asked, knots, found.chance)
    np.testing.assert_allclose(found(torch.from_numpy(asked)), want, atol=1e-12)


@pytest.mark.parametrize("n_rows", [1, 29, 61])
def test_few_rows_make_few_groups(rng, n_rows):
    confidence, held = rng.random(n_rows), rng.random(n_rows)
    found = calibrate(confidence, held)
    assert len(found.chance) == max(n_rows // 30, 1)
    if n_rows < 60:
        assert found(torch.tensor([0.1, 0.9])).tolist() == [found.chance[0]] * 2


def test_groups_on_one_spot_are_one_group():
    confidence = np.array([0.25] * 50 + [1.0] * 70)
    held = np.array([0.5] * 50 + [1.0] * 70)
    found = calibrate(confidence, held)
    assert found.confidence[0] >= 0.25
    assert found.confidence[-1] == 1
    assert (found.confidence.diff() > 0).all()
    # Where all are alike there is one chance: the mean.
    same = calibrate(np.ones(100), np.arange(100) % 2)
    assert same.confidence.tolist() == [1.0]
    assert same.chance.item() == pytest.approx(0.5)


def test_clusters_get_the_names_that_agree_best():
    like = np.array([0, 0, 1, 1, 2, 2, 2])
    assert renamed(np.array([2, 2, 0, 0, 1, 1, 0]), like, 3).tolist() == [
        *(0, 0, 1, 1, 2, 2, 1)
    ]
    assert renamed(like, like, 5).tolist() == like.tolist()


def test_the_rest_is_dealt_out_by_shares():
    shares = torch.tensor([[0.2, 0.6, 0.2], [0.0, 1.0, 0.0], [0.9, 0.1, 0.0]]).double()
    labels = torch.tensor([1, 1, 1])
    chance = torch.tensor([0.8, 0.6, 0.05]).double()
    found = probabilities(labels, chance, shares)
    np.testing.assert_allclose(found[0], [0.1, 0.8, 0.1])
    np.testing.assert_allclose(found[1], [0.2, 0.6, 0.2])  # nobody says anything
    # The label leads, if only by a little, however small its chance.
    assert found[2].argmax() == 1
    assert found[2, 0] == pytest.approx(0.5, abs=1e-5)
    np.testing.assert_allclose(found.sum(1), 1)


def test_ties_are_the_labels():
    shares = torch.full((4, 4), 0.25, dtype=torch.float64)
    labels = torch.arange(4)
    found = probabilities(labels, torch.full((4,), 0.25).double(), shares)
    assert found.numpy().argmax(1).tolist() == [0, 1, 2, 3]
    assert found.numpy()[:, ::-1].argmax(1).tolist() == [3, 2, 1, 0]


def test_a_calibration_moves():
    there = Calibration(torch.zeros(1), torch.ones(1)).to(torch.device("meta"))
    assert there.confidence.is_meta
    assert there.chance.is_meta
