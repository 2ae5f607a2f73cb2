"""Shapes after the Fundamental Clustering Problems Suite, drawn from own recipes."""

from __future__ import annotations

import numpy as np

from scedae._random import RandomState, child_seed, root_seed

Data = tuple[np.ndarray, np.ndarray]


def _generator(random_state: RandomState, name: str) -> np.random.Generator:
    return np.random.default_rng(child_seed(root_seed(random_state), name))


def _sizes(n_samples: int, shares: tuple[float, ...]) -> list[int]:
    """Rows of each cluster: the shares of ``n_samples``, the rest to the first."""
    if n_samples < len(shares):
        raise ValueError(
            f"n_samples={n_samples} must be at least {len(shares)}, one row a cluster."
        )
    sizes = [max(int(n_samples * share), 1) for share in shares]
    sizes[0] += n_samples - sum(sizes)
    return sizes


def _shuffled(parts: list[np.ndarray], generator: np.random.Generator) -> Data:
    X = np.concatenate(parts)
    y = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    order = generator.permutation(len(X))
    return X[order], y[order]


def _ball(n: int, dimension: int, generator: np.random.Generator) -> np.ndarray:
    """Points spread evenly in the unit ball."""
    direction = generator.standard_normal((n, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * generator.random((n, 1)) ** (1 / dimension)


def make_tetra(n_samples: int = 400, *, random_state: RandomState = None) -> Data:
    """Four balls that almost touch: distances inside are like those between.

    Unit balls, filled evenly, on the corners of a regular tetrahedron with edges of
    2.3; equal shares of the rows.

    Parameters
    ----------
    n_samples : int, default=400
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> X.shape, len(set(y))
    ((200, 3), 4)
    """
    generator = _generator(random_state, "tetra")
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    corners = signs * 2.3 / np.sqrt(8)
    sizes = _sizes(n_samples, (0.25,) * 4)
    parts = [
        corner + _ball(n, 3, generator)
        for corner, n in zip(corners, sizes, strict=True)
    ]
    return _shuffled(parts, generator)


def make_chainlink(n_samples: int = 1000, *, random_state: RandomState = None) -> Data:
    """Two rings linked like a chain: no plane separates them.

    Circles of radius 1, one around the origin in the x-y plane, one around (1, 0, 0)
    in the x-z plane; each point is moved inside a ball of radius 0.1.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import make_chainlink
    >>> X, y = make_chainlink(200, random_state=0)
    >>> X.shape, len(set(y))
    ((200, 3), 2)
    """
    generator = _generator(random_state, "chainlink")
    parts = []
    for ring, n in enumerate(_sizes(n_samples, (0.5, 0.5))):
        angle = generator.uniform(0, 2 * np.pi, n)
        circle = np.zeros((n, 3))
        circle[:, 0] = np.cos(angle) + ring
        circle[:, 1 + ring] = np.sin(angle)
        parts.append(circle + 0.1 * _ball(n, 3, generator))
    return _shuffled(parts, generator)


def make_lsun(n_samples: int = 400, *, random_state: RandomState = None) -> Data:
    """An L of two bars, and a sun: clusters of different form and density.

    Half of the rows fill the bar [0, 4] x [0, 0.8], a quarter the bar [0, 0.8] x
    [1.6, 4.6], a quarter is a normal cloud around (3, 3) with deviation 0.35.

    Parameters
    ----------
    n_samples : int, default=400
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(200, random_state=0)
    >>> X.shape, len(set(y))
    ((200, 2), 3)
    """
    generator = _generator(random_state, "lsun")
    n_foot, n_stem, n_sun = _sizes(n_samples, (0.5, 0.25, 0.25))
    parts = [
        generator.uniform((0, 0), (4, 0.8), (n_foot, 2)),
        generator.uniform((0, 1.6), (0.8, 4.6), (n_stem, 2)),
        generator.normal((3, 3), 0.35, (n_sun, 2)),
    ]
    return _shuffled(parts, generator)
