import numpy as np
import pytest
import torch

from scedae._spectral.distances import nearest, squared_distances


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("r", [1, 3])
def test_nearest_equals_a_full_sort(rng, dtype, r):
    points = torch.tensor(rng.standard_normal((500, 4)), dtype=dtype)
    targets = torch.tensor(rng.standard_normal((37, 4)), dtype=dtype)
    expected = torch.cdist(points.double(), targets.double()).argsort(1)[:, :r]
    assert torch.equal(nearest(points, targets, r), expected)


@pytest.mark.parametrize(
    ("dtype", "offset"), [(torch.float32, 1e4), (torch.float64, 1e8)]
)
def test_an_offset_far_from_the_origin_does_not_drown_distances(rng, dtype, offset):
    """So far away that squares about the origin would say nothing at all."""
    points = torch.tensor(rng.standard_normal((200, 3)) + offset, dtype=dtype)
    targets = torch.tensor(rng.standard_normal((20, 3)) + offset, dtype=dtype)
    distances = (points.double()[:, None] - targets.double()).square().sum(2)
    assert torch.equal(nearest(points, targets)[:, 0], distances.argmin(1))


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
