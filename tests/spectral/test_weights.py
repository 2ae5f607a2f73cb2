"""Weights of members: who sees no clusters counts less, and nobody needs labels."""

from __future__ import annotations

import numpy as np
import torch

from scedae import SCEDAE
from scedae.spectral import (
    contrast,
    inverse_root,
    landmark_affinity,
    mean_distance,
    nearest_landmarks,
    weights_of,
)
from tests.helpers import QUICK


def contrast_of(points, rng, n_clusters):
    rows = torch.from_numpy(points).float()
    landmarks = rows[torch.from_numpy(rng.permutation(len(rows))[:60])]
    neighbors = nearest_landmarks(rows, landmarks, 3)
    affinity = landmark_affinity(neighbors, mean_distance(neighbors), 60)
    return contrast(affinity, inverse_root(affinity.column_sums()), n_clusters)


def test_clusters_have_more_contrast_than_a_cloud(rng):
    cloud = rng.standard_normal((300, 4))
    centers = 2.0 * rng.standard_normal((3, 4))
    clusters = cloud + centers[np.arange(300) % 3]
    assert contrast_of(clusters, rng, 3) > contrast_of(cloud, rng, 3) + 0.3


def test_contrast_by_hand(rng):
    """Against a dense matrix: 1 - λ of direction 2k over the mean of the first k."""
    rows = torch.from_numpy(rng.standard_normal((80, 3))).float()
    landmarks = rows[:20]
    neighbors = nearest_landmarks(rows, landmarks, 3)
    affinity = landmark_affinity(neighbors, mean_distance(neighbors), 20)
    scale = inverse_root(affinity.column_sums())
    Z = np.zeros((80, 20))
    np.put_along_axis(
        Z, affinity.columns.numpy().astype(int), affinity.weights.numpy(), axis=1
    )
    values = np.sort(np.linalg.svd(Z * scale.numpy(), compute_uv=False))[::-1] ** 2
    left = 1 - values[1:] + 1e-3  # without the trivial one
    expected = np.log(left[4] / left[:2].mean())
    np.testing.assert_allclose(contrast(affinity, scale, 3), expected, rtol=1e-6)


def test_only_weakness_tells():
    weights = weights_of([1.0, 1.0, 1.0, 3.0, 0.5])
    np.testing.assert_allclose(weights.mean(), 1)
    np.testing.assert_allclose(weights[:4], weights[0])
    np.testing.assert_allclose(weights[4] / weights[0], np.exp(-2))


def test_weights_of_a_fit(blobs, tmp_path):
    X, _ = blobs
    model = SCEDAE(3, **QUICK, random_state=0).fit(X)
    assert model.member_weights_.shape == (len(model.members_),)
    np.testing.assert_allclose(model.member_weights_.mean(), 1)
    assert (model.predict(X) == model.labels_).all()
    model.save(tmp_path / "model")
    loaded = SCEDAE.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.member_weights_, model.member_weights_)
    even = SCEDAE(3, **QUICK, weigh_members=False, random_state=0).fit(X)
    assert (even.member_weights_ == 1).all()
