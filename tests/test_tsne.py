"""t-SNE on a grid: its forces are those of the sums over all pairs."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.manifold import trustworthiness

from scedae._tsne import _attraction, _first_map, _Repulsion, _ties, tsne


def naive_repulsion(xy):
    apart = xy[:, None] - xy[None]
    w = 1 / (1 + (apart**2).sum(2))
    np.fill_diagonal(w, 0)
    return ((w**2)[..., None] * apart).sum(1) / w.sum()


def relative_error(repulsion, xy):
    naive = naive_repulsion(xy.astype(np.float64))
    return np.linalg.norm(repulsion.at(xy) - naive) / np.linalg.norm(naive)


@pytest.mark.parametrize("width", [1e-4, 1.0, 5.0, 20.0])
def test_repulsion_is_that_of_all_pairs(rng, width):
    xy = (width * rng.normal(size=(600, 2))).astype(np.float32)
    assert relative_error(_Repulsion(), xy) < 0.05


def test_the_grid_follows_a_map_that_grows_and_shrinks(rng):
    repulsion = _Repulsion()
    for width in (1.0, 20.0, 3.0):
        xy = (width * rng.normal(size=(300, 2))).astype(np.float32)
        assert relative_error(repulsion, xy) < 0.05


def test_attraction_is_that_of_all_ties(rng):
    points, xy = rng.normal(size=(80, 4)), rng.normal(size=(80, 2)).astype(np.float32)
    ties = _ties(points)
    assert ties.sum() == pytest.approx(1) and abs(ties - ties.T).max() == 0
    apart = xy[:, None] - xy[None]
    w = ties.toarray() / (1 + (apart**2).sum(2))
    naive = (w[..., None] * apart).sum(1)
    np.testing.assert_allclose(_attraction(ties, xy), naive, atol=1e-7)


def test_neighbours_stay_neighbours():
    X, _ = make_blobs(900, 8, centers=6, random_state=0)
    assert trustworthiness(X, tsne(X), n_neighbors=15) > 0.95


def test_clouds_become_islands():
    X, y = make_blobs(1200, 10, centers=5, cluster_std=0.5, random_state=1)
    xy = tsne(X)
    middles = np.array([xy[y == c].mean(0) for c in range(5)])
    nearest = ((xy[:, None] - middles) ** 2).sum(2).argmin(1)
    assert (nearest == y).all()


def test_one_map_whatever_the_run(rng):
    X = rng.normal(size=(200, 5))
    assert (tsne(X) == tsne(X.copy())).all()


@pytest.mark.parametrize("shape", [(2, 3), (5, 1), (40, 1), (40, 2)])
def test_few_rows_and_few_columns(rng, shape):
    xy = tsne(rng.normal(size=shape))
    assert xy.shape == (shape[0], 2) and np.isfinite(xy).all()


def test_equal_rows_have_a_finite_place():
    xy = tsne(np.repeat(np.eye(4), 60, axis=0))
    assert np.isfinite(xy).all() and np.ptp(xy) > 1


def test_the_first_map_does_not_turn_around(rng):
    X = rng.normal(size=(50, 3)) * [5, 2, 1]
    first = _first_map(X)
    assert np.abs(np.corrcoef(first[:, 0], X[:, 0])[0, 1]) > 0.99
    assert first.std() < 1e-3


def test_rows_far_apart_take_no_endless_grid():
    xy = np.array([[0, 0], [1e6, 0], [0, 1e6]], dtype=np.float32)
    repulsion = _Repulsion()
    repulsion.at(xy)
    assert repulsion._size < 1000
