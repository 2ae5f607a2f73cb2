"""Principal directions: against numpy's, and local to a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from scedae._rows import MemoryRows, ScaledRows, find_directions, fit_scaler
from scedae._rows.statistics import gather_statistics


@pytest.fixture
def rows(rng):
    spread = np.array([5.0, 3.0, 1.0, 0.2, 0.01])
    return torch.from_numpy(rng.standard_normal((400, 5)) * spread + 7).float()


def test_they_are_those_of_the_covariance(rows):
    found = find_directions(rows, 3, seed=0)
    values, vectors = np.linalg.eigh(np.cov(rows.double().numpy().T))
    largest = vectors[:, ::-1][:, :3]
    cosines = np.abs((found.matrix.numpy() * largest).sum(0))
    lengths = np.linalg.norm(found.matrix.numpy(), axis=0)
    np.testing.assert_allclose(cosines / lengths, 1, atol=1e-4)
    seen = found(rows).double().numpy()
    np.testing.assert_allclose(seen.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(seen.var(0, ddof=1).mean(), 1, rtol=1e-4)
    np.testing.assert_allclose(
        seen.var(0, ddof=1), values[::-1][:3] / values[::-1][:3].mean(), rtol=1e-3
    )


def test_all_directions_keep_the_proportions_of_distances(rows):
    seen = find_directions(rows, 10, seed=0)(rows)
    assert seen.shape == rows.shape
    before, after = torch.pdist(rows.double()), torch.pdist(seen.double())
    ratio = (after / before).numpy()
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-3)


def test_a_row_is_seen_alike_alone_and_among_others(rows):
    directions = find_directions(rows, 3, seed=0)
    assert torch.equal(directions(rows)[17:18], directions(rows[17:18]))
    assert torch.equal(directions(rows)[200:], directions(rows[200:]))


def test_equal_rows_have_none_to_prefer():
    for rows in (torch.full((6, 4), 3.0), torch.zeros(1, 4)):
        seen = find_directions(rows, 2, seed=0)(rows)
        assert not seen.any()


def test_a_scaler_with_directions_has_their_columns(rows):
    placed = MemoryRows(rows.numpy())
    scaler = fit_scaler(gather_statistics(placed), "range")
    assert scaler.ends_bounded and scaler.n_columns == 5
    turned = replace(scaler, directions=find_directions(scaler(rows), 2, seed=0))
    assert turned.n_columns == 2 and not turned.ends_bounded
    source = ScaledRows(placed, turned)
    whole = torch.cat(list(source.blocks()))
    assert whole.shape == (400, 2) and source.n_columns == 2
    index = torch.tensor([3, 99, 3])
    assert torch.equal(source.take(index), whole[index])


@pytest.mark.parametrize("ratio", [1e-3, 1e-4, 1e-5, 1e-6])
def test_columns_far_from_zero_keep_their_variance(rng, ratio):
    """They vary by so little beside their offset; float32 itself adds up to 2 %."""
    far = torch.from_numpy(1 + ratio * rng.standard_normal((2000, 6))).float()
    seen = find_directions(far, 6, seed=0)(far).double().numpy()
    assert seen.var(0, ddof=1).mean() == pytest.approx(1, rel=0.02)
