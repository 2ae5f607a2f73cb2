"""embed: singular vectors of the fused affinity, through its small Gram matrix.

The eigenvectors of Z̄ᵀZ̄ are the right singular vectors V of Z̄, and Z̄VΣ⁻¹ are the
left ones, the B of Proposition 1: for the rows of the fit and, by the same product,
for new rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from scedae._numerics import lengths
from scedae._spectral.affinity import FusedAffinity
from scedae._spectral.gram import OnDevice, Symmetric
from scedae._spectral.subspace import NotConvergedError, leading_subspace

EMBEDDINGS = ("diffusion", "lsc")

# What the diffusion leaves of the last vector that k clusters need, the (k-1)-th: its
# time t follows from (σ²)^t = 0.75. The k-th lies within a cluster: where it set the
# time, it kept its weight however clear the gap before it, and a large cluster was cut
# instead of a small one found. A fixed t suits one data set and spoils another, since
# how fast singular values fall depends on the data and on the number of landmarks.
KEPT_OF_LAST_VECTOR = 0.75
# After a longer time less is left of that vector, and hardly anything of those within
# clusters, where there is a gap between it and them.
KEPT_AT_A_GAP = 0.25
# What a walk leaves once in a million steps is as good as never left: after a thousand
# steps, vectors within a long and thin cluster were still there.
_LEAST_TIME, MOST_TIME = 0.5, 1e6

# Vectors beside those that k clusters need.
_MOST_MORE = 100

# Up to here all eigenvectors by LAPACK: safe where eigenvalues coincide, and fast.
DENSE_LIMIT = 1200
# What converges at all does so in a few dozen restarts.
_MOST_RESTARTS = 1000
# Eigenvalues below this are rounding: their vectors would be noise divided by zero.
_RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Basis:
    """Right singular vectors of Z̄, without the trivial one, largest value first."""

    vectors: np.ndarray  # (Σp, q)
    singular_values: np.ndarray  # (q,)

    def first(self, n_vectors: int) -> Basis:
        """The leading ones alone."""
        return Basis(self.vectors[:, :n_vectors], self.singular_values[:n_vectors])

    def holds_together(self, below: float) -> bool:
        """Whether the graph has fewer near-separate parts than there are vectors."""
        return float(self.singular_values[-1]) < below


def n_vectors(embedding: str, n_clusters: int) -> int:
    """How many vectors an embedding uses: 2 … k+1 for LSC, 2 … 2k for diffusion.

    Diffusion looks at more directions than clusters, because with clusters of very
    different sizes the k-th one need not be among the first k vectors. Of very many
    clusters there are not as many more: solvers take the square of their number.
    """
    if embedding == "lsc":
        return n_clusters
    return max(n_clusters - 1 + min(n_clusters, _MOST_MORE), 1)


def trivial_vector(column_sums: torch.Tensor) -> np.ndarray:
    """The right singular vector of value 1 whose left one is constant.

    S̄ is bistochastic, so the constant vector is always an eigenvector of value 1;
    seen from the landmarks it is Z̄ᵀ1, the column sums of Z̄.
    """
    vector = column_sums.cpu().numpy()
    return vector / np.linalg.norm(vector)


def _component_vectors(
    gram: Symmetric, trivial: np.ndarray, n_wanted: int
) -> np.ndarray:
    """What a graph in c pieces adds to the eigenvalue 1, (Σp, min(c - 1, n_wanted)).

    Each piece has its own constant vector. They are known without computing, and
    must be: an iterative solver may miss copies of a repeated eigenvalue. Any mixture
    of them that is orthogonal to the trivial one will do. Where there are more than
    wanted, mixtures are taken in which no two pieces share their place: every piece
    stays whole, and none lies at the origin.
    """
    piece = gram.pieces()
    mass = np.bincount(piece, weights=trivial**2)
    order = np.argsort(-mass, kind="stable")
    order = order[mass[order] > 0]
    roots = np.sqrt(mass[order])
    if len(order) - 1 <= n_wanted:
        mixtures = scipy.linalg.null_space(roots[None, :])  # (c, c - 1)
    else:
        waves = (np.arange(len(order)) + 0.5)[:, None] * np.arange(1, n_wanted + 1)
        waves = roots[:, None] * np.cos(np.pi * waves / len(order))
        mixtures = np.linalg.qr(np.column_stack([roots, waves]))[0][:, 1:]
    of_piece = np.zeros((len(mass), mixtures.shape[1]))
    of_piece[order] = mixtures / roots[:, None]
    return trivial[:, None] * of_piece[piece]


def _leading_eigenvectors(
    gram: Symmetric, known: np.ndarray, n_wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs of the Gram matrix orthogonal to the known vectors."""
    if gram.size <= max(DENSE_LIMIT, 4 * n_wanted):
        return np.linalg.eigh(gram.dense() - known @ known.T)
    if isinstance(gram, OnDevice):
        try:
            found = leading_subspace(gram.times_block, gram.there(known), n_wanted)
            return found[0].double().cpu().numpy(), found[1].double().cpu().numpy()
        except NotConvergedError:
            pass  # ARPACK takes longer, and gets there

    def deflated(x: np.ndarray) -> np.ndarray:
        return gram.times(x) - known @ (known.T @ x)

    shape = (gram.size, gram.size)
    operator = LinearOperator(shape, matvec=deflated, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(gram.size)
    # More room takes fewer restarts; of many vectors, a quarter more than wanted does
    # in the same number, and what is kept is orthogonalised at every step.
    room = min(2 * n_wanted + 30, n_wanted + n_wanted // 4 + 60)
    solve = partial(eigsh, operator, k=n_wanted, v0=start, ncv=room)
    try:
        return solve(maxiter=_MOST_RESTARTS)
    except ArpackNoConvergence:
        # Too many values equal 1 up to rounding: directions that a walk leaves less
        # than once in a million steps cannot be told apart, any mixture will do.
        return solve(tol=1e-6)


def spectral_basis(gram: Symmetric, trivial: np.ndarray, n_wanted: int) -> Basis:
    """The ``n_wanted`` leading singular vectors after the constant one (Prop. 1).

    The constant direction is taken out by name rather than by position: when the
    graph falls apart several values equal 1 and the first vector is any mixture.
    Vectors that do not exist (rank too small) come back as zeros.
    """
    size, n_landmarks = gram.size, len(trivial)
    trivial = gram.from_landmarks(trivial)
    n_possible = min(n_wanted, size - 1)
    pieces = _component_vectors(gram, trivial, n_possible)
    values, vectors = np.ones(pieces.shape[1]), pieces
    n_missing = n_possible - pieces.shape[1]
    if n_missing > 0:
        known = np.column_stack([trivial, pieces])
        more = _leading_eigenvectors(gram, known, n_missing)
        values = np.concatenate([values, more[0]])
        vectors = np.column_stack([vectors, more[1]])
    order = np.argsort(-values, kind="stable")[:n_possible]
    values, vectors = values[order], gram.to_landmarks(vectors[:, order])
    vectors = vectors * _positive_signs(vectors)
    exists = values > _RANK_TOLERANCE
    padded_vectors = np.zeros((n_landmarks, n_wanted))
    padded_values = np.zeros(n_wanted)
    padded_vectors[:, :n_possible] = np.where(exists, vectors, 0)
    padded_values[:n_possible] = np.sqrt(np.where(exists, values.clip(max=1), 0))
    return Basis(padded_vectors, padded_values)


def _positive_signs(vectors: np.ndarray) -> np.ndarray:
    """Signs that make the largest entry of each vector positive: B has no free sign."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def diffusion_time(
    singular_values: np.ndarray, n_clusters: int, kept: float = KEPT_OF_LAST_VECTOR
) -> float:
    """The time t after which so much is kept of the weight of the (k-1)-th vector.

    One cluster needs no vector; it takes the time of two.
    """
    low, high = _LEAST_TIME, MOST_TIME
    value = float(singular_values[max(n_clusters - 2, 0)])
    if not 0 < value < 1:
        return low if value <= 0 else high
    return min(max(math.log(kept) / (2 * math.log(value)), low), high)


def embedding_time(
    basis: Basis, embedding: str, n_clusters: int, kept: float = KEPT_OF_LAST_VECTOR
) -> float:
    """The time of diffusion of an embedding: none for LSC."""
    if embedding == "lsc":
        return 0.0
    return diffusion_time(basis.singular_values, n_clusters, kept)


def embedding_matrix(basis: Basis, time: float) -> np.ndarray:
    """The matrix that takes a row of Z̄ to its coordinates, of shape (Σp, q).

    VΣ⁻¹, with columns weighted by (σ²)^t.
    """
    values = basis.singular_values
    weights = np.divide(1, values, out=np.zeros_like(values), where=values > 0)
    return basis.vectors * (weights * values ** (2 * time))


def embed(affinity: FusedAffinity, matrix: torch.Tensor) -> torch.Tensor:
    """Coordinates of rows with their length taken out, of shape (n, q).

    A row that is zero in all directions stays zero.
    """
    coordinates = affinity.times(matrix)
    norms = lengths(coordinates)
    return coordinates / norms.masked_fill(norms == 0, 1)
