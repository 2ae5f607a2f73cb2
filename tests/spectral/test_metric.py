import numpy as np
import pytest
import torch

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae._numerics import times
from scedae._spectral import nearest, round_clusters
from scedae._threads import helpers, one_blas_thread, one_thread
from scedae.datasets import make_tetra
from scedae.metrics import clustering_accuracy


@pytest.fixture
def long_clusters(rng):
    """Two clusters beside each other, each as long as their distance: n x 2."""
    y = np.repeat([0, 1], 400)
    points = rng.normal(size=(800, 2)) * [0.15, 1.5]
    points[:, 0] += y
    return torch.from_numpy(points), torch.from_numpy(y)


def within(points, labels):
    """Covariance about the means of the labels, the plain way."""
    offsets = torch.cat(
        [points[labels == c] - points[labels == c].mean(0) for c in labels.unique()]
    )
    return (offsets.T @ offsets / len(points)).numpy()


def test_clusters_are_round_in_their_metric(long_clusters):
    points, y = long_clusters
    means = torch.stack([points[y == c].mean(0) for c in (0, 1)])
    metric, centers = round_clusters(points, means)
    seen = times(points, metric)
    spread = within(seen, nearest(seen, centers)[:, 0])
    assert np.linalg.cond(spread) < 1.1  # 100 before
    np.testing.assert_allclose(metric, metric.T, atol=1e-12)


def test_the_metric_leaves_the_mean_width(long_clusters):
    """Margins and distances stay comparable to those before."""
    points, y = long_clusters
    means = torch.stack([points[y == c].mean(0) for c in (0, 1)])
    metric, centers = round_clusters(points, means)
    seen = times(points, metric)
    labels = nearest(seen, centers)[:, 0]
    before, after = within(points, labels), within(seen, labels)
    assert np.trace(after) == pytest.approx(np.trace(before), rel=0.06)
    assert np.trace(after) != pytest.approx(2, rel=0.06)  # nor made one


def test_centers_are_means_in_the_metric(long_clusters):
    points, _ = long_clusters
    start = torch.tensor([[-0.2, 0.0], [1.2, 0.0]], dtype=torch.float64)
    metric, centers = round_clusters(points, start)
    seen = times(points, metric)
    labels = nearest(seen, centers)[:, 0]
    means = torch.stack([seen[labels == c].mean(0) for c in (0, 1)])
    torch.testing.assert_close(centers, means, rtol=0, atol=1e-9)


def test_rows_beyond_the_reach_of_k_means_come_home(long_clusters):
    """k-means cuts long clusters across; from a half-right start they are found."""
    points, y = long_clusters
    start = torch.tensor([[0.0, 0.3], [1.0, -0.3]], dtype=torch.float64)
    before = nearest(points, start)[:, 0].numpy()
    metric, centers = round_clusters(points, start)
    after = nearest(times(points, metric), centers)[:, 0].numpy()
    assert clustering_accuracy(y.numpy(), before) < 0.95
    assert clustering_accuracy(y.numpy(), after) > 0.99


@pytest.mark.parametrize("seed", [7, 15, 44, 53])
def test_no_cluster_is_lost(seed):
    """Long clusters of two or three rows: one of them would lose all of its own."""
    rng = np.random.default_rng(seed)
    points = torch.from_numpy(rng.normal(size=(30, 2)) * [1, 0.02])
    metric, centers = round_clusters(points, points[:12])
    found = nearest(times(points, metric), centers)[:, 0]
    assert len(found.unique()) == 12


@pytest.mark.parametrize("points", [np.ones((9, 3)), np.repeat(np.eye(3), 4, axis=0)])
def test_clusters_without_width_keep_the_metric_finite(points):
    points = torch.from_numpy(points)
    centers = points.unique(dim=0)
    metric, found = round_clusters(points, centers)
    assert torch.isfinite(metric).all() and torch.isfinite(found).all()
    labels = nearest(times(points, metric), found)[:, 0]
    assert len(labels.unique()) == len(centers)


def test_rounding_is_no_width(rng):
    """Equal rows lie beside their mean by the last bit, in any direction."""
    points = torch.from_numpy(np.repeat(rng.normal(size=(3, 5)), 7, axis=0))
    points /= torch.linalg.vector_norm(points, dim=1, keepdim=True)
    metric, _ = round_clusters(points, points[[0, 7, 14]])
    assert torch.equal(metric, torch.eye(5, dtype=torch.float64))


def test_too_few_rows_to_tell_widths_keep_the_metric(rng):
    points = torch.from_numpy(rng.normal(size=(8, 7)))
    metric, centers = round_clusters(points, points[:4])
    assert torch.equal(metric, torch.eye(7, dtype=torch.float64))
    assert torch.equal(centers, points[:4])


def test_the_least_number_of_rows_that_tells_widths(rng):
    """As many offsets are free as there are directions."""
    points = torch.from_numpy(rng.normal(size=(9, 7)) * np.arange(1, 8))
    centers = points.mean(0, keepdim=True).repeat(2, 1)
    centers[1] += 1000
    metric, _ = round_clusters(points, centers)
    assert not torch.equal(metric, torch.eye(7, dtype=torch.float64))


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e3])
def test_the_metric_does_not_depend_on_the_unit(long_clusters, unit):
    points, y = long_clusters
    means = torch.stack([points[y == c].mean(0) for c in (0, 1)])
    expected, _ = round_clusters(points, means)
    found, _ = round_clusters(unit * points, unit * means)
    torch.testing.assert_close(found, expected)


def test_a_point_is_seen_alike_alone_and_among_others(rng):
    points = torch.from_numpy(rng.normal(size=(700, 19)))
    metric = torch.from_numpy(rng.normal(size=(19, 19)))
    together = times(points, metric)
    torch.testing.assert_close(together, points @ metric)
    assert torch.equal(times(points[300:301], metric), together[300:301])


def test_helpers_do_not_change_the_metric(rng):
    points = torch.from_numpy(rng.normal(size=(50_000, 30)))
    found = []
    for number in (1, 2):
        with one_thread(), one_blas_thread, helpers(number):
            found.append(round_clusters(points, points[:8])[0])
    assert torch.equal(*found)


def test_lsc_stays_as_published():
    X, _ = make_tetra(120, random_state=0)
    model = LandmarkSpectralClustering(4, n_landmarks=40, random_state=0).fit(X)
    assert torch.equal(model.pipeline_.metric, torch.eye(4, dtype=torch.float64))


def test_the_estimator_measures_by_it():
    X, _ = make_tetra(120, random_state=0)
    model = SCEDAE(4, effort="fast", epochs=5, random_state=0).fit(X)
    labels = nearest(
        torch.from_numpy(model.embedding_), torch.from_numpy(model.cluster_centers_)
    )[:, 0]
    assert (labels.numpy() == model.labels_).all()
    assert (model.transform(X) == model.embedding_).all()
    metric = model.pipeline_.metric
    assert not torch.equal(metric, torch.eye(len(metric), dtype=torch.float64))
    # As they were before, rows had length one.
    before = torch.from_numpy(model.embedding_) @ torch.linalg.inv(metric)
    torch.testing.assert_close(before.norm(dim=1), torch.ones(len(X)).double())
