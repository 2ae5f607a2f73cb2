import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import eigsh

from scedae._spectral import embedding
from scedae._spectral.embedding import (
    Basis,
    diffusion_time,
    embed,
    embedding_matrix,
    embedding_time,
    n_vectors,
    spectral_basis,
    trivial_vector,
)
from scedae._spectral.factored import (
    FactoredGram,
    FactoredInBlocks,
    FactoredOnDevice,
)
from scedae._spectral.gram import DenseGram, SparseGram
from scedae._spectral.subspace import NotConvergedError
from tests.helpers import as_affinity, dense_affinity, dense_fused


def fused_matrix(rng, n=120, groups=1, gap=0.0):
    """Z̄ of two members on rows in ``groups`` groups, ``gap`` apart."""
    members = []
    for p in (14, 18):
        group = np.arange(n) % groups
        encoding = rng.standard_normal((n, 2)) + gap * group[:, None]
        landmarks = encoding[rng.choice(n, p, replace=False)]
        members.append(dense_affinity(encoding, landmarks, 3, 0.7))
    return dense_fused(members)


def basis_of(Z, n_wanted, gram=FactoredGram):
    affinity = as_affinity(Z)
    return spectral_basis(
        gram(affinity), trivial_vector(affinity.column_sums()), n_wanted
    )


def embedded(Z, matrix):
    return embed(as_affinity(Z), torch.from_numpy(matrix)).numpy()


@pytest.fixture(params=[FactoredGram, FactoredOnDevice, SparseGram.of, DenseGram.of])
def gram(request):
    """Those of a CPU and that of a GPU, which works on a CPU as well."""
    return request.param


@pytest.fixture(params=["dense", "iterative"])
def solver(request, monkeypatch):
    """Both ways to the eigenvectors, whatever the size."""
    if request.param == "iterative":
        monkeypatch.setattr(embedding, "DENSE_LIMIT", 0)
    return request.param


def test_left_singular_vectors_are_eigenvectors_of_the_mean_affinity(rng, solver, gram):
    """Proposition 1."""
    Z = fused_matrix(rng)
    basis = basis_of(Z, 4, gram)
    B = Z @ (basis.vectors / basis.singular_values)
    S = Z @ Z.T
    np.testing.assert_allclose(B.T @ B, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(S @ B, B * basis.singular_values**2, atol=1e-8)
    largest = np.linalg.eigvalsh(S)[::-1]
    assert largest[0] == pytest.approx(1)
    np.testing.assert_allclose(basis.singular_values**2, largest[1:5], atol=1e-9)


@pytest.mark.parametrize("gram", [FactoredGram, FactoredOnDevice])
@pytest.mark.parametrize("groups", [1, 3])
def test_fewer_rows_than_landmarks_are_solved_from_their_side(
    rng, solver, gram, groups
):
    Z = fused_matrix(rng, n=25, groups=groups, gap=50.0)
    small = gram(as_affinity(Z))
    assert small.size == 25 and Z.shape[1] == 32
    found, expected = basis_of(Z, 4, gram), basis_of(Z, 4, SparseGram.of)
    np.testing.assert_allclose(
        found.singular_values, expected.singular_values, atol=1e-7
    )
    # Vectors of one value are any mixture: what they span is the same.
    np.testing.assert_allclose(
        Z @ found.vectors @ found.vectors.T,
        Z @ expected.vectors @ expected.vectors.T,
        atol=1e-6,
    )


@pytest.mark.parametrize("groups", [1, 3])
def test_blocks_in_single_precision_span_nearly_the_same(rng, monkeypatch, groups):
    Z = fused_matrix(rng, n=150, groups=groups, gap=50.0)
    expected = basis_of(Z, 4, FactoredGram)
    monkeypatch.setattr(embedding, "DENSE_LIMIT", 0)
    found = basis_of(Z, 4, FactoredInBlocks)
    assert found.vectors.dtype == float
    np.testing.assert_allclose(
        found.singular_values, expected.singular_values, atol=1e-5
    )
    np.testing.assert_allclose(
        Z @ found.vectors @ found.vectors.T,
        Z @ expected.vectors @ expected.vectors.T,
        atol=1e-2,
    )


def test_arpack_steps_in_where_the_block_does_not_come_to_rest(rng, monkeypatch):
    monkeypatch.setattr(embedding, "DENSE_LIMIT", 0)
    Z = fused_matrix(rng)
    expected = basis_of(Z, 4, FactoredOnDevice)

    def never(*_):
        raise NotConvergedError

    monkeypatch.setattr(embedding, "leading_subspace", never)
    found = basis_of(Z, 4, FactoredOnDevice)
    np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-8)


def test_the_constant_direction_is_left_out(rng, solver, gram):
    Z = fused_matrix(rng)
    basis = basis_of(Z, 4, gram)
    B = Z @ (basis.vectors / basis.singular_values)
    np.testing.assert_allclose(B.sum(0), 0, atol=1e-8)


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_a_graph_in_pieces_loses_none_of_them(rng, solver, gram, groups):
    Z = fused_matrix(rng, groups=groups, gap=50.0)
    basis = basis_of(Z, groups + 1, gram)
    np.testing.assert_allclose(basis.singular_values[: groups - 1], 1)
    assert basis.singular_values[groups - 1] < 1 - 1e-6
    B = Z @ basis.vectors[:, : groups - 1]
    group = np.arange(Z.shape[0]) % groups
    centres = np.stack([B[group == g].mean(0) for g in range(groups)])
    # Each piece is one point of the embedding, and no two share it.
    np.testing.assert_allclose(B, centres[group], atol=1e-9)
    assert len(np.unique(centres.round(6), axis=0)) == groups


def test_more_pieces_than_vectors_stay_whole_and_apart(rng, solver, gram):
    """One rule, whichever solver is taken: no piece is cut, none lies at the origin."""
    groups = 6
    Z = fused_matrix(rng, n=60, groups=groups, gap=50.0)
    basis = basis_of(Z, 3, gram)
    np.testing.assert_allclose(basis.singular_values, 1)
    B = Z @ basis.vectors
    np.testing.assert_allclose(B.T @ B, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(B.sum(0), 0, atol=1e-8)
    group = np.arange(Z.shape[0]) % groups
    centres = np.stack([B[group == g].mean(0) for g in range(groups)])
    np.testing.assert_allclose(B, centres[group], atol=1e-9)
    assert len(np.unique(centres.round(6), axis=0)) == groups
    assert (np.linalg.norm(centres, axis=1) > 0.01).all()


def test_directions_that_do_not_exist_come_back_as_zeros():
    Z = np.full((10, 4), 0.5) / np.sqrt(10)  # rank one
    basis = basis_of(Z, 6)
    assert basis.vectors.shape == (4, 6)
    assert not basis.singular_values.any()
    coordinates = embedded(Z, embedding_matrix(basis, 0.5))
    assert coordinates.shape == (10, 6)
    assert not coordinates.any()


def test_embeddings_by_hand(rng):
    Z = fused_matrix(rng, groups=3, gap=3.0)
    k = 2
    basis = basis_of(Z, n_vectors("diffusion", k))
    B = Z @ (basis.vectors / basis.singular_values)
    t = diffusion_time(basis.singular_values, k)
    assert basis.singular_values[k - 2] ** (2 * t) == pytest.approx(0.75)
    assert embedding_time(basis, "diffusion", k) == t
    weighted = B * basis.singular_values ** (2 * t)
    expected = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    found = embedded(Z, embedding_matrix(basis, t))
    np.testing.assert_allclose(found, expected, atol=1e-10)

    lsc = basis_of(Z, n_vectors("lsc", k))
    expected = B[:, :k] / np.linalg.norm(B[:, :k], axis=1, keepdims=True)
    found = embedded(Z, embedding_matrix(lsc, embedding_time(lsc, "lsc", k)))
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("values", "time"), [([1.0, 0.9], 1e6), ([0.0, 0.0], 0.5), ([0.1, 0.1], 0.5)]
)
def test_diffusion_time_has_limits(values, time):
    assert diffusion_time(np.array(values), 2) == time


def test_the_time_is_that_of_the_vector_before_the_last():
    values = np.array([0.95, 0.9, 0.8, 0.6])
    for k, value in ((1, 0.95), (2, 0.95), (3, 0.9), (4, 0.8)):
        assert value ** (2 * diffusion_time(values, k)) == pytest.approx(0.75)


@pytest.mark.parametrize(("k", "count"), [(1, 1), (2, 3), (100, 199), (500, 599)])
def test_very_many_clusters_have_a_hundred_vectors_more(k, count):
    assert n_vectors("diffusion", k) == count
    assert n_vectors("lsc", k) == k


def test_a_longer_time_keeps_less_of_it():
    values = np.array([0.95, 0.9, 0.8])
    assert 0.9 ** (2 * diffusion_time(values, 3, 0.25)) == pytest.approx(0.25)
    basis = Basis(np.eye(3), values)
    assert embedding_time(basis, "lsc", 3, 0.25) == 0
    assert embedding_time(basis, "diffusion", 3, 0.25) == diffusion_time(
        values, 3, 0.25
    )


def test_coordinates_before_their_length_is_taken_out(rng):
    basis = basis_of(fused_matrix(rng), 3)
    values = basis.singular_values
    expected = basis.vectors / values * values**3
    np.testing.assert_allclose(embedding_matrix(basis, 1.5), expected)


def test_signs_are_fixed(rng):
    Z = fused_matrix(rng)
    vectors = basis_of(Z, 5).vectors
    largest = np.abs(vectors).argmax(0)
    assert (vectors[largest, np.arange(5)] > 0).all()


def test_values_too_close_for_arpack_are_found_roughly(monkeypatch):
    """A long path: its values lie as close to 1 and to each other as (π / n)²."""
    size = 1500
    gram = sp.diags([0.25, 0.5, 0.25], [-1, 0, 1], shape=(size, size)).tolil()
    gram[0, 0] = gram[-1, -1] = 0.75  # the ends reflect: the constant has value 1
    tolerances = []

    def spied(*arguments, tol=0, **settings):
        tolerances.append(tol)
        return eigsh(*arguments, tol=tol, **settings)

    monkeypatch.setattr(embedding, "eigsh", spied)
    monkeypatch.setattr(embedding, "_MOST_RESTARTS", 1)
    trivial = np.full(size, size**-0.5)
    basis = spectral_basis(SparseGram(gram.tocsr()), trivial, 5)
    assert tolerances == [0, 1e-6]
    exact = 0.5 + 0.5 * np.cos(np.pi * np.arange(1, 6) / size)
    np.testing.assert_allclose(basis.singular_values**2, exact, atol=1e-4)
    np.testing.assert_allclose(basis.vectors.T @ basis.vectors, np.eye(5), atol=1e-6)
    np.testing.assert_allclose(basis.vectors.T @ trivial, 0, atol=1e-4)


class KnownMatrix(SparseGram):
    """A matrix that is given, in pieces that are given."""

    def __init__(self, matrix, pieces=None):
        super().__init__(sp.csr_matrix(matrix))
        self._pieces = np.zeros(len(matrix), int) if pieces is None else pieces

    def pieces(self):
        return self._pieces


@pytest.mark.parametrize("n_wanted", [1, 2, 3])
def test_where_pieces_lie_that_are_more_than_vectors(solver, n_wanted):
    """By cosines, the largest piece first: one rule, and not what a solver finds."""
    mass = np.array([0.3, 0.0, 0.1, 0.25, 0.15, 0.2])  # to one landmark nobody is near
    pieces = np.repeat(np.arange(6), 2)
    trivial = np.sqrt(mass / 2)[pieces]
    matrix = np.outer(trivial, trivial) * (pieces[:, None] == pieces)
    matrix /= np.maximum(mass, 0.1)[pieces]
    basis = spectral_basis(KnownMatrix(matrix, pieces), trivial, n_wanted)
    np.testing.assert_allclose(basis.singular_values, 1)
    assert not basis.vectors[pieces == 1].any()
    places = basis.vectors[pieces != 1][::2] / trivial[pieces != 1][::2, None]
    rank = np.argsort(np.argsort(-mass[mass > 0]))
    waves = np.cos(np.pi * np.outer(rank + 0.5, np.arange(n_wanted + 1)) / 5)
    for j in range(n_wanted):
        # The j-th wave, made orthogonal to those before it.
        shares = np.linalg.lstsq(waves[:, : j + 2], places[:, j])[0]
        np.testing.assert_allclose(waves[:, : j + 2] @ shares, places[:, j], atol=1e-9)


def test_values_above_one_are_rounding_and_tiny_ones_are_zero():
    trivial = np.array([1.0, 0, 0, 0, 0])
    values = [1.0, 1 + 1e-7, 0.25, 1e-8, 1e-12]
    basis = spectral_basis(KnownMatrix(np.diag(values)), trivial, 4)
    np.testing.assert_allclose(basis.singular_values, [1, 0.5, 1e-4, 0], rtol=1e-6)
    assert basis.singular_values[0] == 1 and basis.singular_values[3] == 0
    assert np.abs(basis.vectors).max(0).tolist() == [1, 1, 1, 0]


def test_how_many_vectors_an_embedding_uses():
    assert [n_vectors("lsc", k) for k in (1, 2, 10)] == [1, 2, 10]
    assert [n_vectors("diffusion", k) for k in (1, 2, 10)] == [1, 3, 19]


def test_every_vector_that_exists_is_found(rng):
    """Of p landmarks there are p - 1 after the constant one, and no more."""
    Z = fused_matrix(rng)[:, :14] * np.sqrt(2)  # one member
    found = basis_of(Z, 20, SparseGram.of)
    values = np.linalg.svd(Z, compute_uv=False)
    np.testing.assert_allclose(found.singular_values[:13], values[1:], atol=1e-7)
    assert not found.singular_values[13:].any()
    assert not found.vectors[:, 13:].any()


@pytest.mark.parametrize("n_wanted", [1, 2, 3, 4])
def test_pieces_and_other_vectors_fill_up_to_what_is_wanted(rng, solver, n_wanted):
    """Three pieces have two values of one; one more, or two, must be computed."""
    Z = fused_matrix(rng, groups=3, gap=50.0)
    found = basis_of(Z, n_wanted).singular_values
    values = np.linalg.svd(Z, compute_uv=False)[1 : n_wanted + 1]
    np.testing.assert_allclose(found, values, atol=1e-7)
