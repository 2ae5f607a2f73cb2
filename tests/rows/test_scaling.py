import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from scedae._rows import (
    MemoryRows,
    ScaledRows,
    fit_scaler,
    gather_statistics,
    learn_scaler,
)


def statistics_of(X):
    return gather_statistics(MemoryRows(X))


def scaled(X, scale):
    scaler = learn_scaler(MemoryRows(X), statistics_of(X), scale, seed=0)
    return scaler, scaler(MemoryRows(X).block(0, X.shape[0])).numpy()


KINDS = {
    "pixels": (lambda g: g.integers(0, 256, (500, 30)).astype(np.uint8), "range"),
    "dark pixels": (
        lambda g: (g.integers(0, 256, (500, 30)) * (g.random((500, 30)) < 0.2)).astype(
            np.uint8
        ),
        "range",
    ),
    "columns from 0 to 1": (
        lambda g: MinMaxScaler().fit_transform(g.lognormal(0, 1, (500, 5))),
        "power",
    ),
    "flags alone": (lambda g: (g.random((500, 5)) < 0.3) * 1.0, "none"),
    "flags, and a column of ones": (
        lambda g: np.column_stack([g.random((500, 5)) < 0.3, np.ones(500)]) * 1.0,
        "none",
    ),
    "flags, and a column of fives": (
        lambda g: np.column_stack([g.random((500, 5)) < 0.3, np.full(500, 5.0)]),
        "range",
    ),
    "scaled pixels": (lambda g: g.random((500, 30)), "none"),
    "pixels in [-1, 1]": (lambda g: g.uniform(-1, 1, (500, 30)), "range"),
    "tf-idf": (
        lambda g: normalize(g.random((500, 30)) * (g.random((500, 30)) < 0.1)),
        "none",
    ),
    "counts": (lambda g: g.negative_binomial(0.05, 0.01, (500, 30)), "log"),
    "log expression": (
        lambda g: np.log1p(g.poisson(0.3, (500, 30)) * 3.0),
        "range",
    ),
    "standardised": (lambda g: g.standard_normal((5000, 30)), "standard"),
    "different units": (
        lambda g: g.standard_normal((500, 5)) * [1, 1e3, 1e-3, 50, 7],
        "standard",
    ),
    "one-hot and income": (
        lambda g: np.column_stack(
            [np.eye(9)[g.integers(9, size=500)], g.lognormal(10, 1, 500)]
        ),
        "power",
    ),
    "incomes": (
        lambda g: g.lognormal([10, 3, 5], 1, (500, 3)),
        "power",
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_rule_of_auto(rng, name):
    make, expected = KINDS[name]
    X = make(rng)
    scaler, values = scaled(X, "auto")
    assert scaler.kind == expected
    assert np.isfinite(values).all()
    assert np.abs(values).max() <= 10
    if scaler.bounded:
        assert values.min() >= 0
        assert values.max() <= 1


@pytest.mark.parametrize("shape", [(1, 3), (5000, 7), (9000, 2)])
def test_statistics_equal_numpy_over_blocks(rng, shape):
    X = rng.standard_normal(shape) * 3 + 1e6
    found = statistics_of(X)
    np.testing.assert_allclose(found.mean, X.mean(0))
    np.testing.assert_allclose(found.variance, X.var(0), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(found.minimum, X.min(0))
    np.testing.assert_array_equal(found.maximum, X.max(0))
    assert found.deviation == pytest.approx(X.std(), rel=1e-6, abs=1e-6)


def test_scales_equal_those_of_scikit_learn(rng):
    X = rng.standard_normal((100, 4)) * [1, 5, 0.1, 2] + 3
    np.testing.assert_allclose(
        scaled(X, "standard")[1], StandardScaler().fit_transform(X), atol=1e-5
    )
    np.testing.assert_allclose(
        scaled(X, "minmax")[1], MinMaxScaler().fit_transform(X), atol=1e-6
    )
    np.testing.assert_allclose(scaled(X, "l2")[1], normalize(X), atol=1e-6)


@pytest.mark.parametrize(
    "scale", ["minmax", "standard", "power", "range", "l2", "log", "none"]
)
def test_constant_columns_and_zero_rows_stay_finite(scale):
    X = np.zeros((20, 3))
    X[:, 1] = 5
    X[10:, 2] = 7
    X[0] = 0
    assert np.isfinite(scaled(X, scale)[1]).all()


def test_a_column_that_only_rounding_moves_stays_quiet():
    X = np.column_stack([0.1 + np.zeros(50), np.arange(50.0)])
    X[::2, 0] += 1e-17
    X[0, 0] = np.nextafter(0.1, 1)
    assert np.abs(scaled(X, "standard")[1][:, 0]).max() == 0


def test_a_large_offset_does_not_swallow_the_values():
    X = 1e9 + np.arange(10.0)[:, None]
    np.testing.assert_allclose(scaled(X, "minmax")[1][:, 0], np.arange(10) / 9, 1e-6)


def test_new_rows_are_cut_to_the_range_of_the_training_rows(rng):
    X = rng.integers(0, 256, (50, 4)).astype(np.uint8)
    scaler = fit_scaler(statistics_of(X), "auto")
    wild = torch.tensor([[1e30, -1e30, 300.0, 0.0]], dtype=torch.float64)
    assert scaler(wild).tolist() == [[1, 0, 1, 0]]


def test_sparse_rows_equal_dense_ones(rng):
    X = (rng.random((300, 20)) < 0.1) * rng.random((300, 20)) * 9
    dense, sparse = MemoryRows(X), MemoryRows(sp.csr_matrix(X))
    scaler = fit_scaler(gather_statistics(sparse), "auto")
    assert scaler.kind == fit_scaler(gather_statistics(dense), "auto").kind
    index = torch.tensor([5, 0, 299])
    for one, two in zip(
        ScaledRows(dense, scaler).blocks(),
        ScaledRows(sparse, scaler).blocks(),
        strict=True,
    ):
        assert torch.equal(one, two)
    assert torch.equal(dense.take(index), sparse.take(index))


def test_raw_leaves_every_value_alone():
    """Where "none" centres: published methods are not to be had on other rows."""
    rows = np.array([[-1.0, 0.5, 300.0], [1.0, 0.25, 310.0]])
    scaler, out = scaled(rows, "raw")
    assert not scaler.bounded
    np.testing.assert_array_equal(out, rows.astype(np.float32))
    new = torch.tensor([[-7.0, 3.0, 1000.0]]).double()
    assert scaler(new).tolist() == new.tolist()  # nor is anything cut
    assert not scaled(rows[:, 1:2], "raw")[0].bounded  # even within [0, 1]
    with pytest.raises(ValueError, match="scale='raw'"):
        scaled(np.array([[1e19], [0.0]]), "raw")


@pytest.mark.parametrize("scale", ["none", "standard", "l2", "minmax"])
def test_rows_that_lie_column_after_column_equal_the_others(rng, scale):
    X = rng.standard_normal((300, 20))
    scaler = fit_scaler(statistics_of(X), scale)
    (plain,) = ScaledRows(MemoryRows(X), scaler).blocks()
    (turned,) = ScaledRows(MemoryRows(np.asfortranarray(X)), scaler).blocks()
    assert torch.equal(plain, turned)
    # Sums along a row add in the order in which they find it in memory.
    assert torch.equal(plain.double().square().sum(1), turned.double().square().sum(1))
