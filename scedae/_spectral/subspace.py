"""Leading eigenvectors of a matrix that multiplies blocks: filtered subspace iteration.

For a GPU, where a product with forty vectors costs little more than one with one, and
where a solver on the host would wait for each; and for large matrices on a CPU, where
that solver's own work on long vectors costs more than the products. A polynomial of the
matrix (Chebyshev) is small on the part of the spectrum nobody wants and large on the
rest; between two of them, Rayleigh and Ritz turn the block to the eigenvectors it holds
(Zhou, Saad, Tiago and Chelikowsky, 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from scedae._random import generator


@dataclass(frozen=True)
class _Aim:
    """How exact a vector v of value θ is to be, and the way there.

    All values are in [0, 1]. What is ``accepted`` is good enough where vectors do not
    converge: too many values are equal up to rounding, and any mixture will do.
    """

    residual: float  # |Av - θv|
    accepted: float
    most_filters: int
    degree: int  # products of the matrix within one filter
    more: int  # vectors beside those wanted: with more, the others fall behind faster


_AIMS = {
    torch.float64: _Aim(1e-10, 1e-6, most_filters=100, degree=12, more=16),
    torch.float32: _Aim(1e-4, 1e-2, most_filters=20, degree=16, more=10),
}


class NotConvergedError(Exception):
    """The block does not come to rest."""


def leading_subspace(
    times: Callable[[torch.Tensor], torch.Tensor],
    known: torch.Tensor,
    n_wanted: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Largest eigenpairs orthogonal to some known vectors.

    Parameters
    ----------
    times : callable
        Product of a symmetric matrix, eigenvalues in [0, 1], with vectors (n, b).
    known : tensor of shape (n, c)
        Orthonormal eigenvectors that are not wanted; their precision is that of the
        work.
    n_wanted : int

    Returns
    -------
    values : tensor of shape (n_wanted,), largest first
    vectors : tensor of shape (n, n_wanted)

    Raises
    ------
    NotConvergedError
    """
    size, aim, residual = len(known), _AIMS[known.dtype], torch.inf
    width = min(n_wanted + max(aim.more, n_wanted // 2), size - known.shape[1])

    def deflated(vectors: torch.Tensor) -> torch.Tensor:
        return _without(times(vectors), known)

    # Anything will do to begin with, and in single precision it is drawn sooner.
    numbers = generator(0, "eigen")
    draws = torch.randn(size, width, generator=numbers, dtype=torch.float32)
    block = _orthonormal(_without(draws.to(known), known))
    for _ in range(aim.most_filters):
        product = deflated(block)
        values, turn = torch.linalg.eigh(_symmetric(block.T @ product))
        values, turn = values.flip(0), turn.flip(1)
        block, product = block @ turn, product @ turn
        errors = (product - block * values)[:, :n_wanted]
        residual = float(torch.linalg.vector_norm(errors, dim=0).max())
        if residual < aim.residual:
            break
        # All below the last value of the block is damped.
        block = _orthonormal(
            _filtered(deflated, block, product, float(values[-1]), aim.degree)
        )
        block = _orthonormal(_without(block, known))
    if not residual < aim.accepted:
        raise NotConvergedError(f"the largest residual is {residual:.1e}")
    return values[:n_wanted], block[:, :n_wanted]


def _filtered(
    times: Callable[[torch.Tensor], torch.Tensor],
    block: torch.Tensor,
    product: torch.Tensor,
    bound: float,
    degree: int,
) -> torch.Tensor:
    """T(A) of a block, with T the Chebyshev polynomial of [0, bound], scaled.

    ``product`` is the matrix times the block, which is at hand. Scaled such that the
    value 1, the largest there is, stays 1: nothing overflows.
    """
    middle = max(bound, torch.finfo(block.dtype).eps) / 2
    at_one = middle / (1 - middle)
    ratio = at_one
    before, now = block, (product - middle * block) * (ratio / middle)
    for _ in range(1, degree):
        after = 1 / (2 / at_one - ratio)
        step = times(now).sub_(now, alpha=middle).mul_(2 * after / middle)
        before, now = now, step.sub_(before, alpha=ratio * after)
        ratio = after
    return now


def _without(vectors: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """What is left of vectors, in their place."""
    return vectors.addmm_(known, known.T @ vectors, alpha=-1)


def _orthonormal(vectors: torch.Tensor) -> torch.Tensor:
    return torch.linalg.qr(vectors).Q


def _symmetric(matrix: torch.Tensor) -> torch.Tensor:
    return (matrix + matrix.T) / 2
