"""Nearest of many points by cells, against all distances."""

import pickle

import numpy as np
import pytest
import torch

from scedae._spectral import Search, nearest, search
from scedae._threads import helpers


@pytest.fixture
def points(rng):
    """Rows near a curved sheet in twelve columns, as real data are."""
    flat = rng.uniform(-2, 2, (4000, 3))
    lifted = np.tanh(flat @ rng.standard_normal((3, 12)))
    return torch.from_numpy(np.float32(lifted + 0.02 * rng.standard_normal((4000, 12))))


@pytest.fixture(autouse=True)
def cells_of_few_points(monkeypatch):
    monkeypatch.setitem(search._FEW_POINTS, "cpu", 100)


def all_distances(rows, points, r):
    squared = torch.cdist(rows.double(), points.double())
    return squared.topk(r, dim=1, largest=False)


def recall(found, expected):
    """Share of those expected, row by row."""
    pairs = zip(found.tolist(), expected.tolist(), strict=True)
    return np.mean([len({*a} & {*b}) / len(b) for a, b in pairs])


def test_nearly_all_of_the_nearest_are_found(points):
    found = Search(points).nearest(points, 5)
    far, expected = all_distances(points, points, 5)
    assert recall(found, expected) > 0.97
    assert torch.equal(found[:, 0], torch.arange(len(points)))
    # And what is found is in order, and never much farther.
    own = (points[found] - points[:, None]).double().norm(dim=2)
    assert bool((own.diff(dim=1) >= -1e-6).all())
    assert float(own.mean() / far.mean()) < 1.01


def test_of_few_points_all_are_looked_at(points, monkeypatch):
    monkeypatch.setitem(search._FEW_POINTS, "cpu", len(points))
    found = Search(points).nearest(points[:50], 4)
    assert torch.equal(found, all_distances(points[:50], points, 4).indices)


@pytest.mark.parametrize("number", [1, 2])
def test_neither_place_nor_company_nor_threads_matter(points, number):
    expected = Search(points).nearest(points, 5)
    order = torch.from_numpy(np.random.default_rng(1).permutation(len(points))[:700])
    with helpers(number):
        again = Search(points)
        assert torch.equal(again.nearest(points[order], 5), expected[order])
        assert torch.equal(again.nearest(points[7:8], 5), expected[7:8])


def test_many_rows_are_searched_in_parts(points, monkeypatch):
    expected = Search(points).nearest(points, 3)
    monkeypatch.setattr(search, "_ROWS_AT_A_TIME", 999)
    assert torch.equal(Search(points).nearest(points, 3), expected)
    assert Search(points).nearest(points[:0], 3).shape == (0, 3)


def test_who_lives_in_small_cells_is_compared_with_all(points, monkeypatch):
    """More are wanted than the cells that are searched have."""
    monkeypatch.setattr(search, "_SEARCHED", 1)
    monkeypatch.setattr(search, "_POINTS_OF_A_CELL", 4)
    found = Search(points).nearest(points[:200], 40)
    assert all(len({*row}) == 40 for row in found.tolist())
    expected = all_distances(points[:200], points, 40).indices
    assert (found.sort().values == expected.sort().values).double().mean() > 0.9


def test_tight_clusters_far_apart_are_no_problem(rng):
    """In single precision their distances would drown, seen from the origin."""
    centers = np.repeat(1e3 * rng.standard_normal((20, 8)), 100, axis=0)
    points = torch.from_numpy(
        np.float32(centers + 0.1 * rng.standard_normal(centers.shape))
    )
    found = Search(points).nearest(points, 5)
    expected = all_distances(points, points, 5).indices
    assert recall(found, expected) > 0.97


def test_equal_points_are_all_near(rng):
    points = torch.from_numpy(np.float32(rng.standard_normal((30, 4)).repeat(20, 0)))
    found = Search(points).nearest(points, 5)
    assert bool((points[found] == points[:, None]).all())


def test_cells_do_not_travel(points):
    search = Search(points)
    expected = search.nearest(points[:100], 5)
    sent = pickle.dumps(search)
    assert len(sent) < 1.1 * points.nbytes
    assert torch.equal(pickle.loads(sent).nearest(points[:100], 5), expected)


def test_rows_near_cells_without_points_are_searched_whole(rng):
    points = torch.from_numpy(rng.standard_normal((60, 3)))
    far = 100 + torch.from_numpy(rng.standard_normal((40, 3)))
    centers = torch.cat([points[:1], far])  # a model file may hold any
    found = Search(points, centers).nearest(far[:5], 2)
    assert torch.equal(found, nearest(far[:5], points, 2))
