import pickle

import numpy as np
import pytest
import torch

from scedae._spectral import factored
from scedae._spectral import gram as module
from scedae._spectral.affinity import Affinity, FusedAffinity
from scedae._spectral.factored import (
    FactoredGram,
    FactoredInBlocks,
    FactoredOnDevice,
    gram_of,
)
from scedae._spectral.gram import DenseGram, SparseGram, gram_matrix
from scedae._threads import helpers
from tests.helpers import as_affinity


@pytest.fixture
def Z(rng):
    """120 rows with three entries each, in pieces of 4, 5 and 11 landmarks."""
    Z = np.zeros((120, 20))
    for row, (low, high) in zip(Z, [(0, 4), (4, 9), (9, 20)] * 40, strict=True):
        row[rng.choice(np.arange(low, high), 3, replace=False)] = rng.random(3)
    return Z


KINDS = [
    SparseGram.of,
    DenseGram.of,
    FactoredGram,
    FactoredInBlocks,
    FactoredOnDevice,
]


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_dense_product(Z, kind, rng, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_PAIRS", 9 * 50)  # three blocks of rows
    gram = kind(as_affinity(Z))
    x = rng.standard_normal(20)
    np.testing.assert_allclose(gram.dense(), Z.T @ Z, atol=1e-14)
    np.testing.assert_allclose(gram.times(x), Z.T @ (Z @ x), atol=1e-13)


@pytest.mark.parametrize("kind", [DenseGram.of, FactoredInBlocks, FactoredOnDevice])
def test_blocks_of_vectors_are_multiplied_at_once(Z, kind, rng, monkeypatch):
    monkeypatch.setattr(factored, "_SLICE", 7)
    gram, vectors = kind(as_affinity(Z)), rng.standard_normal((20, 6))
    with helpers(2):
        found = gram.times_block(gram.there(vectors)).numpy()
    np.testing.assert_allclose(found, Z.T @ (Z @ vectors), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_pieces(Z, kind):
    pieces = kind(as_affinity(Z)).pieces()
    expected = np.repeat([0, 1, 2], [4, 5, 11])
    same = pieces[:, None] == pieces
    np.testing.assert_array_equal(same, expected[:, None] == expected)


@pytest.mark.parametrize("kind", [DenseGram.of, FactoredOnDevice])
def test_a_long_chain_is_one_piece(kind):
    """What is linked only by many steps is still found."""
    order = np.random.default_rng(0).permutation(60)
    Z = np.zeros((59, 60))
    Z[np.arange(59), order[:-1]] = Z[np.arange(59), order[1:]] = 1
    assert len(np.unique(kind(as_affinity(Z)).pieces())) == 1


def test_entries_of_no_weight_tie_nothing():
    affinity = as_affinity(np.eye(4) + 1e-9)
    for part in affinity.parts:
        part.weights[part.weights < 1e-6] = 0
    for kind in KINDS:
        assert len(np.unique(kind(affinity).pieces())) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_tie_nothing(Z, kind):
    gram = kind(as_affinity(Z).take(torch.arange(0)))
    assert (gram.times(np.ones(20)) == 0).all()
    assert len(np.unique(gram.pieces())) == 20


@pytest.mark.parametrize("kind", [FactoredGram, FactoredInBlocks, FactoredOnDevice])
def test_seen_from_the_rows_where_they_are_fewer(Z, rng, kind):
    few = Z[[0, 1, 2, 3, 4, 5]]  # two rows of each piece
    gram = kind(as_affinity(few))
    assert gram.size == 6
    x, v = rng.standard_normal(6), rng.standard_normal(20)
    np.testing.assert_allclose(gram.dense(), few @ few.T, atol=1e-14)
    np.testing.assert_allclose(gram.times(x), few @ (few.T @ x), atol=1e-13)
    seen = few @ v
    np.testing.assert_allclose(gram.from_landmarks(v), seen / np.linalg.norm(seen))
    back = few.T @ x[:, None]
    np.testing.assert_allclose(
        gram.to_landmarks(x[:, None]), back / np.linalg.norm(back)
    )
    pieces = gram.pieces()
    assert pieces[0] != pieces[1] != pieces[2] != pieces[0]


def test_the_form_whose_products_are_cheapest(Z, monkeypatch):
    few, many = as_affinity(Z[:30]), as_affinity(Z)
    assert type(gram_of(few)) is FactoredGram
    assert isinstance(gram_of(many), SparseGram)
    monkeypatch.setattr(factored, "_LARGE", 19)
    assert isinstance(gram_of(many), FactoredInBlocks)
    monkeypatch.setattr(factored, "_LARGE_OF_ROWS", 15)  # 20 landmarks of 16 rows
    assert isinstance(gram_of(as_affinity(Z[:16])), FactoredInBlocks)
    assert isinstance(gram_matrix(few), SparseGram)  # such a one can be added up


@pytest.mark.parametrize("first", [SparseGram, DenseGram])
@pytest.mark.parametrize("second", [SparseGram, DenseGram])
def test_parts_add_up_and_are_scaled_after(Z, rng, first, second):
    """The whole from two parts of the rows, one of which travelled."""
    parts = first.of(as_affinity(Z[:50])), second.of(as_affinity(Z[50:]))
    factors = rng.random(20)
    whole = (parts[0] + pickle.loads(pickle.dumps(parts[1]))).scaled(factors)
    np.testing.assert_allclose(whole.dense(), (Z * factors).T @ (Z * factors))


@pytest.mark.parametrize("kind", [FactoredGram, FactoredOnDevice])
def test_a_vector_that_leads_nowhere_stays_zero(kind):
    """A landmark that no row is tied to, seen from the rows."""
    Z = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    gram = kind(as_affinity(Z))
    assert gram.size == 2
    assert gram.from_landmarks(np.array([1.0, 0.0, 0.0, 0.0])).tolist() == [0, 0]
    found = gram.to_landmarks(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), [1, 0])


def test_few_landmarks_of_several_members_are_summed_by_pairs(rng, monkeypatch):
    """As the sparse product has it, for members of different sizes."""
    parts = tuple(
        Affinity(
            torch.from_numpy(rng.integers(size, size=(100, r))).int(),
            torch.from_numpy(rng.random((100, r))),
            size,
        )
        for size, r in ((7, 3), (12, 5), (4, 2))
    )
    affinity = FusedAffinity(parts)
    monkeypatch.setattr(module, "_PAIRED_ROWS", 33)
    by_pairs = SparseGram.of(affinity)
    monkeypatch.setattr(module, "_FEW_LANDMARKS", 0)
    by_product = SparseGram.of(affinity)
    np.testing.assert_allclose(by_pairs.dense(), by_product.dense(), rtol=1e-13)
    assert by_pairs.nbytes == by_product.nbytes  # no cell that is zero is kept
