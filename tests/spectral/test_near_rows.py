"""What is near is found once, and is what each member would have found by itself."""

import numpy as np
import pytest
import torch

from scedae._encoded import CodeRows
from scedae._spectral import NearRows, Search, nearest_landmarks, search
from scedae._threads import helpers


@pytest.fixture(autouse=True)
def cells_of_few_points(monkeypatch):
    monkeypatch.setitem(search._FEW_POINTS, "cpu", 100)


def curved(rng):
    flat = rng.uniform(-2, 2, (3000, 3))
    return np.tanh(flat @ rng.standard_normal((3, 12)))


def tight(rng):
    """In single precision some distances drown, seen from the middle of a cell."""
    centers = np.repeat(100 * rng.standard_normal((150, 4)), 20, axis=0)
    return centers + 1e-3 * rng.standard_normal(centers.shape)


def crumbs(rng):
    """Cells have fewer rows than are wanted."""
    return rng.standard_normal((3000, 3)) * 10.0 ** rng.integers(-4, 4, (3000, 1))


def grid(rng):
    """Many distances are equal, and rows as well."""
    return rng.integers(0, 14, (3000, 3))


@pytest.mark.parametrize("make", [curved, tight, crumbs, grid])
@pytest.mark.parametrize("part", [0.9, 0.6])
def test_each_member_has_what_it_would_find(rng, make, part):
    rows = torch.from_numpy(np.float32(make(rng)))
    near = NearRows(CodeRows(rows), 10)
    for number in range(2):
        draws = torch.Generator().manual_seed(number)
        landmarks, found = near.some(part, 10, draws)
        alone = nearest_landmarks(rows, Search(landmarks, near.centers), 10)
        assert torch.equal(found.columns, alone.columns)
        assert torch.equal(found.squared, alone.squared)


def test_few_rows_are_compared_with_all(rng, monkeypatch):
    monkeypatch.setitem(search._FEW_POINTS, "cpu", 3000)
    rows = torch.from_numpy(np.float32(curved(rng)))
    near = NearRows(CodeRows(rows), 6)
    landmarks, found = near.some(0.9, 6, torch.Generator())
    assert near.centers is None and len(landmarks) == 2700
    by_hand = torch.cdist(rows.double(), landmarks.double())
    expected = by_hand.topk(6, dim=1, largest=False).values
    torch.testing.assert_close(found.squared.sqrt(), expected, atol=1e-4, rtol=1e-4)


def test_threads_do_not_matter(rng):
    rows = CodeRows(torch.from_numpy(np.float32(curved(rng))))
    _, expected = NearRows(rows, 5).some(0.9, 5, torch.Generator().manual_seed(0))
    with helpers(2):
        _, found = NearRows(rows, 5).some(0.9, 5, torch.Generator().manual_seed(0))
    assert torch.equal(found.columns, expected.columns)
