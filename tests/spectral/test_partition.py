"""Rows put to clusters: k-means, and clusters made round."""

import numpy as np
import pytest
import torch

from scedae._spectral import margin, nearest, partition, partition_rows


@pytest.fixture
def points(rng):
    """Three long clusters side by side: k-means cuts their ends off."""
    offsets = rng.standard_normal((300, 2)) * (3, 0.5)
    offsets[:, 1] += np.repeat([0.0, 4.0, 8.0], 100)
    return torch.tensor(offsets)


def test_labels_are_the_nearest_centres(points):
    for rounded in (False, True):
        found = partition_rows(points, 3, 0, rounded=rounded)
        assert torch.equal(nearest(found.points, found.centers)[:, 0], found.labels)
        assert len(found.labels.unique()) == 3


def test_not_rounded_means_as_k_means_has_them(points):
    found = partition_rows(points, 3, 0, rounded=False)
    assert torch.equal(found.metric, torch.eye(2, dtype=torch.float64))
    assert torch.equal(found.labels, found.kmeans_labels)
    assert found.points is points
    expected = margin(points, found.centers, found.labels).mean()
    assert found.kmeans_margin == pytest.approx(float(expected))


def test_rounded_clusters_are_whole(points):
    truth = torch.arange(3).repeat_interleave(100)
    found = partition_rows(points, 3, 0, rounded=True)
    plain = partition_rows(points, 3, 0, rounded=False)
    torch.testing.assert_close(found.points, points @ found.metric)
    assert torch.equal(found.kmeans_labels, plain.labels)
    assert found.kmeans_margin == plain.kmeans_margin

    def purity(labels):
        pairs = torch.bincount(3 * labels + truth, minlength=9).view(3, 3)
        return float(pairs.amax(1).sum() / 300)

    assert purity(found.labels) == 1 > purity(plain.labels)


def test_many_starts_are_compared_early(points, monkeypatch):
    asked = {}
    kmeans = partition.kmeans

    def spy(*arguments, **named):
        asked.update(named)
        return kmeans(*arguments, **named)

    monkeypatch.setattr(partition, "kmeans", spy)
    partition_rows(points, 3, 0, rounded=False)
    assert asked == {"n_starts": 30, "n_iter_start": 15}


def test_what_was_found_among_some_is_a_start(points, monkeypatch):
    truth = torch.arange(3).repeat_interleave(100)
    some = partition_rows(points[::2], 3, 0, rounded=True)
    monkeypatch.setattr(partition, "kmeans", None)  # no starts are run
    found = partition_rows(points, 3, 0, rounded=True, start=some.kmeans_centers)
    # Means of all points now, and clusters are made round as ever.
    own = nearest(points, found.kmeans_centers)[:, 0]
    assert torch.equal(own, found.kmeans_labels)
    means = torch.stack([points[own == i].mean(0) for i in range(3)])
    torch.testing.assert_close(found.kmeans_centers, means)
    pairs = torch.bincount(3 * found.labels + truth, minlength=9).view(3, 3)
    assert float(pairs.amax(1).sum()) == len(points)
