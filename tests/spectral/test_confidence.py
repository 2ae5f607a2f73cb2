import numpy as np
import pytest
import torch

from scedae._spectral import (
    Affinity,
    combine,
    fuse,
    inverse_root,
    landmark_affinity,
    landmark_votes,
    margin,
    mean_distance,
    nearest_landmarks,
    unfuse,
    vote,
)
from tests.helpers import dense_affinity


@pytest.fixture
def anchored(rng):
    """An affinity, the same as a dense matrix, and labels of its rows."""
    encoding, landmarks = rng.standard_normal((60, 4)), rng.standard_normal((9, 4))
    landmarks[8] = 1e3  # nobody is near
    neighbors = nearest_landmarks(torch.tensor(encoding), torch.tensor(landmarks), 3)
    bandwidth = mean_distance(neighbors)
    affinity = landmark_affinity(neighbors, bandwidth, len(landmarks))
    Z = dense_affinity(encoding, landmarks, 3, bandwidth)
    return affinity, Z, torch.tensor(rng.integers(0, 4, 60))


def naive_votes(Z, labels, n_clusters):
    table = np.zeros((Z.shape[1], n_clusters))
    for row, label in zip(Z, labels.tolist(), strict=True):
        table[:, label] += row
    totals = table.sum(1, keepdims=True)
    return np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)


def test_votes_equal_the_naive_reference(anchored):
    affinity, Z, labels = anchored
    votes = landmark_votes(affinity, labels, 5)
    expected = naive_votes(Z, labels, 5)
    np.testing.assert_allclose(votes.numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(votes[:8].sum(1).numpy(), 1)
    assert (votes[8] == 0).all()
    assert (votes[:, 4] == 0).all()

    given = vote(affinity, votes, labels).numpy()
    np.testing.assert_allclose(given, (Z @ expected)[np.arange(60), labels], atol=1e-12)


def test_a_vote_never_leaves_its_range_and_one_neighbour_is_enough():
    """Shares that were scaled and scaled back may add up to more than one."""
    columns = torch.tensor([[0], [1], [1]])
    weights = torch.tensor([[1 + 1e-9], [1.0], [-1e-9]], dtype=torch.float64)
    votes = torch.tensor([[1.0, 0.0], [0.25, 0.75]], dtype=torch.float64)
    given = vote(Affinity(columns, weights, 2), votes, torch.tensor([0, 1, 1]))
    assert given.tolist() == [1, 0.75, 0]


def test_a_fused_affinity_gives_back_its_parts(anchored):
    affinity, _, _ = anchored
    scale = inverse_root(affinity.column_sums())
    for part in unfuse(fuse([affinity, affinity], [scale, scale]), [scale, scale]):
        assert (part.columns == affinity.columns).all()
        torch.testing.assert_close(part.weights, affinity.weights)


def test_margin_equals_the_naive_reference(rng):
    points, centers = rng.standard_normal((50, 3)), rng.standard_normal((4, 3))
    distances = np.sqrt(((points[:, None] - centers) ** 2).sum(2))
    labels = torch.tensor(distances.argmin(1))
    first, second = np.sort(distances, axis=1)[:, :2].T
    found = margin(torch.tensor(points), torch.tensor(centers), labels)
    np.testing.assert_allclose(found.numpy(), 1 - first / second)


def test_margin_at_its_ends():
    centers = torch.tensor([[0.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    points = torch.tensor([[0.0, 0.0], [1.0, 5.0], [2.0, 0.0]], dtype=torch.float64)
    labels = torch.tensor([0, 0, 1])
    assert margin(points, centers, labels).tolist() == [1, 0, 1]
    assert margin(points, centers[:1], labels * 0).tolist() == [1, 1, 1]
    assert margin(points, centers[[0, 0]], labels * 0).tolist()[0] == 0


def test_the_margin_is_that_of_the_label_and_not_of_the_nearest_centre():
    """A row that was put to a centre farther away has no margin at all."""
    centers = torch.tensor([[0.0], [1.0], [9.0]], dtype=torch.float64)
    points = torch.tensor([[0.2], [0.2], [0.2]], dtype=torch.float64)
    found = margin(points, centers, torch.tensor([0, 1, 2]))
    np.testing.assert_allclose(found, [0.75, 0, 0])


def test_the_worse_side_decides():
    sides = torch.tensor([0.0, 0.25, 1.0], dtype=torch.float64)
    assert combine(sides, torch.ones_like(sides)).tolist() == [0, 0.5, 1]
    assert combine(torch.ones_like(sides), sides).tolist() == [0, 0.5, 1]
