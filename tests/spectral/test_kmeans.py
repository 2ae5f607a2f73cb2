import importlib
import sys

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from scedae._spectral.distances import nearest
from scedae._spectral.kmeans import (
    KMeansResult,
    _distances_between_rows,
    _from_all,
    _sums_by_label,
    _sums_by_product,
    kmeans,
    kmeans_from,
    lloyd,
    means_by_label,
    plus_plus_rows,
    revive_empty,
)
from scedae._threads import helpers, one_thread
from scedae.metrics import clustering_accuracy

module = importlib.import_module("scedae._spectral.kmeans")


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_as_good_as_scikit_learn(rng):
    points = rng.standard_normal((600, 5)) + 3 * rng.integers(0, 2, (600, 5))
    ours = kmeans(torch.tensor(points), 6, seeded()).inertia
    theirs = KMeans(6, n_init=10, random_state=0).fit(points).inertia_
    assert ours <= theirs * 1.01


def test_lloyd_takes_one_naive_step(rng):
    points = rng.standard_normal((80, 2))
    start = points[:4]
    labels = ((points[:, None] - start) ** 2).sum(2).argmin(1)
    expected = np.stack([points[labels == c].mean(0) for c in range(4)])
    found = lloyd(lambda: [torch.tensor(points)], torch.tensor(start), 1)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_blocks_do_not_change_the_centres(rng):
    points = torch.tensor(rng.standard_normal((500, 3)), dtype=torch.float32)
    start = points[:7]
    whole = lloyd(lambda: [points], start, 20)
    blocks = lloyd(lambda: points.split(64), start, 20)
    torch.testing.assert_close(blocks, whole, rtol=1e-6, atol=1e-7)


def test_finds_clouds(blobs):
    X, y = blobs
    centers = kmeans(torch.tensor(X), 3, seeded()).centers
    assert clustering_accuracy(y, nearest(torch.tensor(X), centers)[:, 0]) == 1


def test_helpers_do_not_change_the_centres(rng):
    """Inside a fit torch has one thread; how many share the starts is no matter."""
    points = torch.tensor(rng.standard_normal((20000, 10)))
    found = []
    for number in (1, 2, 3):
        with one_thread(), helpers(number):
            found.append(kmeans(points, 5, seeded(), n_starts=3, n_iter=10).centers)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_between_rows_by_differences(rng, offset):
    points = torch.tensor(rng.standard_normal((50, 3)) + offset)
    points[7] = points[3]
    rows = torch.tensor([3, 11])
    found = _distances_between_rows(points)(rows)
    expected = (points[rows, None] - points).square().sum(2)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    assert found[0, 3] == found[0, 7] == found[1, 11] == 0


def test_equal_points_are_no_problem():
    result = kmeans(torch.ones(20, 2, dtype=torch.float64), 3, seeded())
    assert result.inertia == 0
    assert bool(torch.isfinite(result.centers).all())


def test_every_cluster_is_used_when_there_are_enough_points(rng):
    points = torch.tensor(np.repeat(np.arange(5.0), 10)[:, None])
    centers = kmeans(points, 5, seeded(), n_starts=1).centers
    assert len(nearest(points, centers).unique()) == 5


def test_sums_of_a_gpu_equal_those_of_a_cpu(rng, monkeypatch):
    monkeypatch.setattr(sys.modules[kmeans.__module__], "_BLOCK_NUMBERS", 70)
    points = torch.tensor(rng.standard_normal((100, 3)))
    labels = torch.tensor(rng.integers(0, 3, (100, 2))) + torch.tensor([0, 3])
    expected = _sums_by_label(points, labels, 7)
    torch.testing.assert_close(_sums_by_product(points, labels, 7), expected)
    assert not expected[6].any()
    of_second = points[labels[:, 1] == 4].sum(0)
    torch.testing.assert_close(expected[4], of_second)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_starts_run_together_end_where_they_end_alone(rng, dtype):
    points = torch.tensor(rng.standard_normal((300, 4)), dtype=dtype)
    starts = [plus_plus_rows(points, 5, seeded(seed)) for seed in range(3)]
    starts[1][2] = 1e3  # a centre that no point is near to
    together = _from_all(points, starts, 40)
    for found, start in zip(together, starts, strict=True):
        alone = kmeans_from(points, start, 40)
        torch.testing.assert_close(found.centers, alone.centers)
        assert found.inertia == pytest.approx(alone.inertia)


def test_starts_on_a_sample_are_as_good(rng, monkeypatch):
    points = rng.standard_normal((2000, 5)) + 3 * rng.integers(0, 2, (2000, 5))
    whole = kmeans(torch.tensor(points), 6, seeded()).inertia
    monkeypatch.setattr(sys.modules[kmeans.__module__], "_SAMPLE_POINTS", 300)
    sampled = kmeans(torch.tensor(points), 6, seeded())
    assert sampled.inertia <= whole * 1.03
    distances = (points[:, None] - sampled.centers.numpy()) ** 2
    assert sampled.inertia == pytest.approx(distances.sum(2).min(1).sum())


def test_starts_compared_early_are_as_good(rng):
    points = torch.tensor(
        rng.standard_normal((600, 5)) + 3 * rng.integers(0, 2, (600, 5))
    )
    late = kmeans(points, 6, seeded(), n_starts=20)
    early = kmeans(points, 6, seeded(), n_starts=20, n_iter_start=5)
    assert early.inertia <= late.inertia * 1.01
    # The best start went on to its end.
    torch.testing.assert_close(lloyd(lambda: [points], early.centers, 1), early.centers)


CASES = (([1.0, 1 - 1e-12, 1.0], 0), ([1.0, 0.9, 0.95], 1), ([1.0, 1 - 1.5e-9, 1], 1))


def test_of_equal_ends_the_first_stays(rng, monkeypatch):
    """Rounding must not decide how clusters are numbered; a better end is taken."""
    points = torch.tensor(rng.standard_normal((30, 2)))
    module = sys.modules[kmeans.__module__]
    for inertias, chosen in CASES:
        ends = [KMeansResult(points[i : i + 2], v) for i, v in enumerate(inertias)]
        monkeypatch.setattr(module, "_from_all", lambda *_, ends=ends: ends)
        assert kmeans(points, 2, seeded(), n_starts=3) is ends[chosen]


@pytest.mark.parametrize("n_clusters", [3, 7, 60])
def test_starts_run_together_end_where_each_would(rng, monkeypatch, n_clusters):
    module = sys.modules[kmeans.__module__]
    points = torch.tensor(rng.standard_normal((2500, 5)))
    together = kmeans(points, n_clusters, seeded(), n_iter=12)
    monkeypatch.setattr(module, "_CENTRES_AT_ONCE", 1)
    alone = kmeans(points, n_clusters, seeded(), n_iter=12)
    assert torch.equal(together.centers, alone.centers)


def test_ten_starts_of_a_hundred_rounds_if_nobody_says_otherwise(rng, monkeypatch):
    module, rounds = sys.modules[kmeans.__module__], []
    run, run_all = module.kmeans_from, module._from_all

    def spy(points, start, n_iter):
        rounds.append(n_iter)
        return run(points, start, n_iter)

    def spy_on_all(points, starts, n_iter):
        rounds.extend([n_iter] * len(starts))
        return run_all(points, starts, n_iter)

    monkeypatch.setattr(module, "kmeans_from", spy)
    monkeypatch.setattr(module, "_from_all", spy_on_all)
    points = torch.tensor(rng.standard_normal((60, 2)))
    kmeans(points, 2, seeded())
    assert rounds == [100] * 10
    rounds.clear()
    kmeans(points, 2, seeded(), n_starts=3, n_iter=7, n_iter_start=2)
    assert rounds == [2, 2, 2, 7]


def test_centres_without_points_go_to_the_farthest_ones():
    points = torch.tensor([[0.0], [1.0], [5.0], [9.0]], dtype=torch.float64)
    centers = torch.tensor([[0.5], [100.0], [200.0]], dtype=torch.float64)
    revived = revive_empty(points, centers)
    # The second one goes where the first does not help.
    assert revived[:, 0].tolist() == [0.5, 9.0, 5.0]
    assert centers[:, 0].tolist() == [0.5, 100.0, 200.0]


def test_a_run_goes_on_with_a_centre_that_had_no_points(rng):
    points = torch.tensor(rng.standard_normal((60, 2)))
    points[:30] += 10
    start = torch.tensor([[5.0, 5.0], [900.0, 0.0]], dtype=torch.float64)
    found = kmeans_from(points, start, 50)
    labels = nearest(points, found.centers)[:, 0]
    assert labels.bincount().tolist() == [30, 30]
    torch.testing.assert_close(
        found.centers, means_by_label(points, labels, found.centers)
    )
    expected = (points - found.centers[labels]).square().sum()
    assert found.inertia == pytest.approx(float(expected))


def test_centres_stay_where_every_point_has_one():
    points = torch.tensor([[0.0], [4.0]], dtype=torch.float64)
    centers = torch.tensor([[0.0], [4.0], [7.0]], dtype=torch.float64)
    assert torch.equal(revive_empty(points, centers), centers)


def test_the_centre_of_one_point_is_that_point():
    points = torch.tensor([[0.0, 1], [2, 3], [10, 7]])
    centers = lloyd(lambda: [points], torch.tensor([[1.0, 2], [9, 9]]), 5)
    assert centers.tolist() == [[1, 2], [10, 7]]


def test_a_cluster_without_points_keeps_its_centre(rng):
    points = torch.tensor(rng.standard_normal((20, 2)))
    start = torch.tensor([[0.0, 0.0], [50.0, 50.0]], dtype=torch.float64)
    found = lloyd(lambda: [points], start, 1)
    torch.testing.assert_close(found[0], points.mean(0))
    assert torch.equal(found[1], start[1])
    labels = torch.zeros(20, dtype=torch.long)
    torch.testing.assert_close(means_by_label(points, labels, start), found)


def test_rounds_end_when_no_centre_moves(rng):
    points, asked = torch.tensor(rng.standard_normal((50, 2))), []
    lloyd(lambda: asked.append(1) or [points], points[:3], 1000)
    assert 1 < len(asked) < 50
    asked.clear()
    lloyd(lambda: asked.append(1) or [points], points[:3], 2)
    assert len(asked) == 2


def test_starts_are_greedy():
    """The best of several draws: clusters are rarely met twice."""
    draw = np.random.default_rng(0)
    centers = 4 * np.stack(np.meshgrid(range(5), range(5)), -1).reshape(-1, 2)
    points = torch.tensor(
        np.repeat(centers, 20, axis=0) + draw.standard_normal((500, 2))
    )
    met = []
    for seed in range(20):
        rows = plus_plus_rows(points, 25, seeded(seed))
        met.append(
            len(nearest(rows, torch.tensor(centers, dtype=torch.float64)).unique())
        )
    assert np.mean(met) > 22  # with one draw 20.7, with several 23.6


@pytest.mark.parametrize(
    ("n_clusters", "n_starts"), [(10, 30), (20, 30), (60, 10), (300, 3)]
)
def test_many_clusters_have_fewer_starts(rng, monkeypatch, n_clusters, n_starts):
    """The work of starts does not grow faster than the clusters."""
    points = torch.from_numpy(rng.standard_normal((400, 3)))
    drawn = []

    def first_rows(points, n_centers, generator):
        drawn.append(n_centers)
        return points[:n_centers]

    monkeypatch.setattr(module, "plus_plus_rows", first_rows)
    kmeans(points, n_clusters, seeded(), n_starts=30, n_iter=1)
    assert len(drawn) == n_starts


def test_starts_in_many_columns_find_every_cluster(rng):
    """By distances in a projection, which are not exact."""
    centers = rng.standard_normal((80, 159))
    y = np.arange(1600) % 80
    points = torch.from_numpy(centers[y] + 0.3 * rng.standard_normal((1600, 159)))
    found = plus_plus_rows(points, 80, seeded())
    assert len(torch.unique(nearest(points[:80], found)[:, 0])) >= 76
    wide, few = _distances_between_rows(points)(torch.arange(5)).numpy(), points[:5]
    exact = torch.cdist(few, points).square().numpy()
    assert np.abs(wide / np.where(exact > 0, exact, 1) - 1)[exact > 0].mean() < 0.2
