"""Halves of the ensemble: what a smaller ensemble on fewer rows would be."""

import numpy as np
import pytest
import torch

from scedae._spectral import spectral_basis, trivial_vector
from scedae._spectral.gram import gram_matrix
from scedae._spectral.halves import opposed_halves
from tests.helpers import dense_affinity, dense_fused
from tests.spectral.test_panel import anchored, groups


@pytest.mark.parametrize("n_members", [1, 2, 5])
def test_a_half_is_the_ensemble_of_its_members_on_its_rows(rng, n_members):
    """Against dense matrices: Eq. 8 on half of the rows, its right vectors by SVD."""
    X, _ = groups(rng)
    landmarks = [X[rng.choice(len(X), 12, replace=False)] for _ in range(n_members)]
    affinities = [anchored(X, L) for L in landmarks]
    draw = torch.Generator().manual_seed(3)
    views = opposed_halves(affinities, torch.arange(len(X)), 4, draw)
    order = torch.randperm(len(X), generator=torch.Generator().manual_seed(3))
    own = landmarks[::2], landmarks[1::2] or landmarks
    for view, rows, members in zip(views, order.tensor_split(2), own, strict=True):
        dense = dense_fused([dense_affinity(X[rows], L, 3, 1.0) for L in members])
        values = np.linalg.svd(dense, compute_uv=False)
        np.testing.assert_allclose(values[0], 1)
        np.testing.assert_allclose(view.basis.singular_values, values[1:5], atol=1e-8)
        assert len(view.affinity.parts) == len(members)


def test_halves_share_no_row(rng):
    """What stands in the rows of one half alone cannot move the other."""
    X, _ = groups(rng)
    L = X[:12]
    draw = lambda: torch.Generator().manual_seed(0)  # noqa: E731
    order = torch.randperm(len(X), generator=draw())
    moved = X.copy()
    moved[order.tensor_split(2)[1]] += rng.standard_normal(2)
    asked = torch.arange(5)
    first, second = opposed_halves([anchored(X, L)] * 2, asked, 3, draw())
    same, other = opposed_halves([anchored(moved, L)] * 2, asked, 3, draw())
    np.testing.assert_array_equal(first.basis.vectors, same.basis.vectors)
    assert np.abs(second.basis.vectors - other.basis.vectors).max() > 1e-6


def test_the_first_vectors_of_a_basis(rng):
    X, _ = groups(rng)
    views = opposed_halves(
        [anchored(X, X[:20])] * 2, torch.arange(9), 6, torch.Generator().manual_seed(0)
    )
    fused = views[0].affinity
    basis = spectral_basis(gram_matrix(fused), trivial_vector(fused.column_sums()), 5)
    assert basis.first(2).vectors.shape == (fused.n_landmarks, 2)
    np.testing.assert_array_equal(
        basis.first(2).singular_values, basis.singular_values[:2]
    )
