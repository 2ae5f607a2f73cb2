import numpy as np
import pytest
import torch

from scedae._spectral import (
    fuse,
    inverse_root,
    landmark_affinity,
    mean_distance,
    unfuse,
)
from scedae._spectral.affinity import Neighbors, sums_at
from scedae._spectral.search import nearest_landmarks
from tests.helpers import as_affinity, dense_affinity, dense_fused


def affinity_of(encoding, landmarks, r):
    neighbors = nearest_landmarks(torch.tensor(encoding), torch.tensor(landmarks), r)
    bandwidth = mean_distance(neighbors)
    return landmark_affinity(neighbors, bandwidth, len(landmarks)), bandwidth


def dense(affinity):
    Z = np.zeros((len(affinity.columns), affinity.n_landmarks))
    np.put_along_axis(
        Z, affinity.columns.long().numpy(), affinity.weights.numpy(), axis=1
    )
    return Z


@pytest.mark.parametrize("r", [1, 3, 7])
def test_equals_the_naive_reference(rng, r):
    encoding, landmarks = rng.standard_normal((60, 4)), rng.standard_normal((7, 4))
    affinity, bandwidth = affinity_of(encoding, landmarks, r)
    expected = dense_affinity(encoding, landmarks, r, bandwidth)
    np.testing.assert_allclose(dense(affinity), expected, atol=1e-12)


def test_bandwidth_is_the_mean_distance_to_the_nearest(rng):
    encoding, landmarks = rng.standard_normal((60, 4)), rng.standard_normal((7, 4))
    distances = np.sqrt(((encoding[:, None] - landmarks) ** 2).sum(2))
    _, bandwidth = affinity_of(encoding, landmarks, 3)
    assert bandwidth == pytest.approx(np.sort(distances, axis=1)[:, :3].mean())


def test_rows_far_from_every_landmark_keep_a_finite_affinity(rng):
    landmarks = rng.standard_normal((7, 4))
    neighbors = nearest_landmarks(
        torch.full((3, 4), 1e8, dtype=torch.float64), torch.tensor(landmarks), 3
    )
    weights = landmark_affinity(neighbors, 0.01, 7).weights
    np.testing.assert_allclose(weights.sum(1).numpy(), 1)


def test_rows_that_are_landmarks_all_of_them_have_equal_shares():
    """The bandwidth is zero then, and no distance may be divided by it."""
    rows = np.ones((4, 2))
    affinity, bandwidth = affinity_of(rows, rows[:3], 3)
    assert bandwidth == 0
    np.testing.assert_allclose(affinity.weights, 1 / 3)


def test_some_rows_by_number(rng):
    Z = np.where(rng.random((30, 9)) < 0.3, rng.random((30, 9)), 0)
    fused, rows = as_affinity(Z), torch.tensor([7, 0, 29, 7])
    assert (fused.n_rows, fused.n_landmarks) == (30, 9)
    taken = fused.take(rows)
    assert (taken.n_rows, taken.n_landmarks) == (4, 9)
    every = torch.eye(9, dtype=torch.float64)
    np.testing.assert_array_equal(taken.times(every), Z[rows])


def test_column_numbers_take_half_of_the_memory(rng):
    rows = torch.tensor(rng.standard_normal((5, 2)))
    assert nearest_landmarks(rows, rows, 2).columns.dtype == torch.int32


def test_sums_of_values_that_share_an_index():
    index, values = torch.tensor([[0, 2], [2, 2]]), torch.tensor([[1.0, 2], [3, 4]])
    assert sums_at(index, values, 4).tolist() == [1, 0, 9, 0]


def test_fused_matrix_equals_the_naive_reference_and_is_bistochastic(rng):
    members = [
        (rng.standard_normal((50, e)), rng.standard_normal((p, e)))
        for e, p in ((3, 6), (5, 9))
    ]
    affinities = [affinity_of(Y, U, 3)[0] for Y, U in members]
    scales = [inverse_root(a.column_sums()) for a in affinities]
    fused = np.hstack([dense(part) for part in fuse(affinities, scales).parts])
    np.testing.assert_allclose(fused, dense_fused([dense(a) for a in affinities]))
    S = fused @ fused.T  # Eq. 6
    np.testing.assert_allclose(S.sum(0), 1)
    np.testing.assert_allclose(S.sum(1), 1)


@pytest.mark.parametrize("n_members", [1, 2])
def test_what_was_fused_is_taken_apart(rng, n_members):
    encoding = rng.standard_normal((40, 3))
    far = np.full((1, 3), 1e3)  # nobody is near: its column is zero
    affinities = [
        affinity_of(encoding, np.vstack([rng.standard_normal((p, 3)), far]), 3)[0]
        for p in (6, 9)[:n_members]
    ]
    scales = [inverse_root(a.column_sums()) for a in affinities]
    fused = fuse(affinities, scales)
    assert (fused.n_rows, fused.device.type) == (40, "cpu")
    again = list(unfuse(fused, scales))
    assert len(again) == n_members
    for found, expected in zip(again, affinities, strict=True):
        np.testing.assert_allclose(dense(found), dense(expected), atol=1e-15)


def test_a_landmark_whose_ties_underflow_is_taken_apart_as_zeros(rng):
    landmarks = torch.tensor([[0.0, 0], [1, 1], [1e3, 1e3]])
    neighbors = nearest_landmarks(torch.rand(9, 2), landmarks, 3)
    affinity = landmark_affinity(neighbors, 0.5, 3)
    scales = [inverse_root(affinity.column_sums())]
    assert scales[0][2] == 0
    (again,) = unfuse(fuse([affinity], scales), scales)
    np.testing.assert_allclose(dense(again), dense(affinity), atol=1e-6)


def test_the_unit_of_the_codes_does_not_matter(rng):
    encoding, landmarks = rng.standard_normal((20, 3)), rng.standard_normal((6, 3))
    found, bandwidth = affinity_of(encoding / 100, landmarks / 100, 3)
    assert bandwidth < 0.1
    expected, _ = affinity_of(encoding, landmarks, 3)
    np.testing.assert_allclose(dense(found), dense(expected), atol=1e-12)


def test_a_landmark_nobody_is_near_to_weighs_nothing(rng):
    encoding = rng.standard_normal((30, 2))
    landmarks = np.vstack([rng.standard_normal((5, 2)), [[1e3, 1e3]]])
    affinity, _ = affinity_of(encoding, landmarks, 2)
    assert inverse_root(affinity.column_sums())[-1] == 0


def test_products_and_sums_equal_the_dense_ones(rng):
    encoding, landmarks = rng.standard_normal((60, 4)), rng.standard_normal((7, 4))
    affinity, _ = affinity_of(encoding, landmarks, 3)
    matrix = rng.standard_normal((7, 5))
    found = affinity.times(torch.from_numpy(matrix))
    np.testing.assert_allclose(found, dense(affinity) @ matrix, atol=1e-14)
    np.testing.assert_allclose(affinity.column_sums(), dense(affinity).sum(0))


def test_a_fused_affinity_is_its_parts_side_by_side(rng):
    Z = np.where(rng.random((30, 9)) < 0.3, rng.random((30, 9)), 0)
    fused = as_affinity(Z)
    matrix = rng.standard_normal((9, 4))
    found = fused.times(torch.from_numpy(matrix))
    np.testing.assert_allclose(found, Z @ matrix, atol=1e-14)
    np.testing.assert_allclose(fused.column_sums(), Z.sum(0))
    again = np.zeros_like(Z)
    for block, (columns, weights) in enumerate(fused.blocks(8)):
        for i, (row, values) in enumerate(
            zip(columns, weights, strict=True), 8 * block
        ):
            again[i, row.numpy()] = values
    np.testing.assert_array_equal(again, Z)


def test_a_tie_below_a_millionth_of_the_strongest_is_none():
    """Else a graph in pieces looks whole, and its vectors cannot be told apart."""
    squared = torch.tensor([[0.0, 26.0, 28.0], [5.0, 31.0, 33.0]], dtype=torch.float64)
    columns = torch.tensor([[0, 1, 2], [2, 1, 0]])
    found = landmark_affinity(Neighbors(columns, squared), 1.0, 3).weights
    assert (found[:, 1] > 1e-6).all()  # exp(-13)
    assert (found[:, 2] == 0).all()  # exp(-14)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-15)
