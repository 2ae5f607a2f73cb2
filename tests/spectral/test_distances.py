import math

import numpy as np
import pytest
import torch

from scedae._spectral.distances import (
    nearest,
    nearest_of_groups,
    squared_distances,
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("r", [1, 2, 3])
def test_nearest_equals_a_full_sort(rng, dtype, r):
    points = torch.tensor(rng.standard_normal((500, 4)), dtype=dtype)
    targets = torch.tensor(rng.standard_normal((37, 4)), dtype=dtype)
    expected = torch.cdist(points.double(), targets.double()).argsort(1)[:, :r]
    assert torch.equal(nearest(points, targets, r), expected)


@pytest.mark.parametrize("n_columns", [1, 15, 16, 17, 31, 32])
@pytest.mark.parametrize("n_targets", [1, 15, 16, 17])
def test_padding_does_not_show(rng, n_columns, n_targets):
    """What is filled up with zeros is neither a target nor a column."""
    points = torch.tensor(rng.standard_normal((40, n_columns)) - 50)
    targets = torch.tensor(rng.standard_normal((n_targets, n_columns)) - 50)
    expected = torch.cdist(points, targets).argsort(1)
    assert torch.equal(nearest(points, targets), expected[:, :1])
    assert torch.equal(nearest(points, targets, n_targets), expected)


def test_distances_are_measured_from_the_middle_of_the_targets():
    """Half way between the extremes, so that neither end is farther than it must be."""
    targets = torch.tensor([[0.0], [1.0], [1e9], [1e9 + 128]], dtype=torch.float32)
    points = torch.tensor([[1e9 + 192], [0.9]], dtype=torch.float32)
    assert nearest(points, targets)[:, 0].tolist()[0] == 3


@pytest.mark.parametrize(
    ("dtype", "offset"), [(torch.float32, 1e4), (torch.float64, 1e8)]
)
def test_an_offset_far_from_the_origin_does_not_drown_distances(rng, dtype, offset):
    """So far away that squares about the origin would say nothing at all."""
    points = torch.tensor(rng.standard_normal((200, 3)) + offset, dtype=dtype)
    targets = torch.tensor(rng.standard_normal((20, 3)) + offset, dtype=dtype)
    distances = (points.double()[:, None] - targets.double()).square().sum(2)
    assert torch.equal(nearest(points, targets)[:, 0], distances.argmin(1))


@pytest.mark.parametrize("ratio", [1e-2, 1e-3, 1e-4])
def test_small_clusters_far_apart_keep_their_neighbours(rng, ratio):
    """In single precision the distances within them drown in those between them."""
    centres = rng.standard_normal((5, 6))
    near = centres[rng.integers(5, size=900)] + ratio * rng.standard_normal((900, 6))
    points = torch.tensor(near, dtype=torch.float32)
    targets = points[::3]
    exact = (points.double()[:, None] - targets.double()).square().sum(2)
    expected = exact.topk(3, dim=1, largest=False).indices
    assert torch.equal(nearest(points, targets, 3), expected)
    for rows in (slice(0, 1), slice(50, 700)):  # whatever their company
        assert torch.equal(nearest(points[rows], targets, 3), expected[rows])


def test_squared_distances_are_those_of_numpy(rng):
    points, targets = rng.standard_normal((50, 5)), rng.standard_normal((9, 5))
    index = rng.integers(9, size=(50, 3))
    expected = ((points[:, None] - targets[index]) ** 2).sum(2)
    found = squared_distances(*(torch.tensor(a) for a in (points, targets, index)))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_a_row_has_the_same_neighbours_in_any_company(rng):
    points = torch.tensor(rng.standard_normal((3000, 8)), dtype=torch.float32)
    targets = torch.tensor(rng.standard_normal((300, 8)), dtype=torch.float32)
    whole = nearest(points, targets, 3)
    for rows in (slice(0, 1), slice(7, 40), slice(1000, 2500)):
        assert torch.equal(nearest(points[rows], targets, 3), whole[rows])


@pytest.mark.parametrize("n_targets", [119, 120, 200, 319, 320])
def test_the_nearest_of_any_number_of_targets(rng, n_targets):
    """Around the numbers at which torch chooses by another algorithm."""
    points, targets = rng.standard_normal((700, 3)), rng.standard_normal((n_targets, 3))
    found = nearest(torch.from_numpy(points), torch.from_numpy(targets), 5)
    distances = ((points[:, None] - targets) ** 2).sum(2)
    np.testing.assert_array_equal(found, np.argsort(distances, axis=1)[:, :5])


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("r", [1, 2])
def test_rows_that_are_no_numbers_get_targets_that_exist(wrong, r):
    targets = torch.randn(3, 4)
    found = nearest(torch.full((5, 4), wrong), targets, r)
    assert found.min() >= 0
    assert found.max() < 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_of_each_group_the_nearest(rng, dtype):
    points = torch.tensor(rng.standard_normal((90, 3)), dtype=dtype)
    targets = torch.tensor(rng.standard_normal((21, 3)), dtype=dtype)
    found = nearest_of_groups(points, targets, 3)
    apart = torch.cdist(points, targets).view(90, 3, 7).argmin(2)
    assert torch.equal(found, apart + torch.tensor([0, 7, 14]))
