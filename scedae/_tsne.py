"""t-SNE whose repulsion is a convolution on a grid: its time is linear in the rows.

Van der Maaten and Hinton (2008) with the forces of Linderman et al. (2019): each row
repels each other one by a kernel of their distance. So rows are counted on a grid, the
counts are convolved with the kernel by FFT, and forces are read off between the points
of the grid. One thread: the map does not depend on how many there are.
"""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

# Equal ties to the nearest neighbours: maps look as they do with a perplexity of a half
# to all of that number (Böhm et al. 2022), and there are fewer ties.
_NEIGHBORS = 30
# Ties count more at first, so that islands form before they drift apart.
_EARLY_ROUNDS, _ROUNDS = 100, 300
_EARLY_TIES = 12.0
_EARLY_MOMENTUM, _MOMENTUM = 0.5, 0.8
_LEAST_RATE = 200.0
# Deviation of the first map, since all rows begin close together; and of equal rows,
# which could not leave each other otherwise, as a share of it.
_START, _APART = 1e-4, 0.01
# Distance between points of the grid, where the kernel has a width of 1; but so many
# points a side, and a few beyond the outermost rows.
_STEP = 0.5
_FEWEST_POINTS, _MOST_POINTS, _MARGIN = 32, 500, 2


def tsne(points: np.ndarray) -> np.ndarray:
    """Places in the plane, of shape (n, 2), for points of shape (n, q), n ≥ 2."""
    n_rows, ties = len(points), _ties(points)
    xy = _first_map(points)
    moved, gains = np.zeros_like(xy), np.ones_like(xy)
    rate = np.float32(max(n_rows / _EARLY_TIES, min(_LEAST_RATE, n_rows)))
    repulsion = _Repulsion()
    for done in range(_ROUNDS):
        early = done < _EARLY_ROUNDS
        pull = _attraction(ties, xy) * np.float32(_EARLY_TIES if early else 1)
        gradient = pull - repulsion.at(xy)
        # Larger steps where the direction holds, smaller ones where it turns.
        gains = np.where(gradient * moved < 0, gains + 0.2, gains * 0.8).clip(0.01)
        moved *= np.float32(_EARLY_MOMENTUM if early else _MOMENTUM)
        moved -= rate * gains * gradient
        xy += moved
        xy -= xy.mean(axis=0)
    return xy.astype(np.float64)


def _ties(points: np.ndarray) -> scipy.sparse.csr_array:
    """Symmetric ties of each row to its nearest others; they add up to one."""
    n_rows = len(points)
    # Few rows would otherwise be tied to all others, and make one island.
    count = min(_NEIGHBORS, max((n_rows - 1) // 3, 1))
    index = NearestNeighbors(n_neighbors=count).fit(points)
    graph = scipy.sparse.csr_array(index.kneighbors_graph())
    ties = (graph + graph.T) / (2 * count * n_rows)
    return ties.tocsr().astype(np.float32)


def _first_map(points: np.ndarray) -> np.ndarray:
    """The first two principal components, tiny; equal rows a little apart."""
    centered = points - points.mean(axis=0)
    vectors = np.linalg.eigh(centered.T @ centered)[1][:, :-3:-1]  # (q, 1 or 2)
    # The sign of a vector is the solver's whim.
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.sign(vectors[largest, range(len(largest))])
    xy = np.zeros((len(points), 2))
    xy[:, : len(largest)] = centered @ vectors
    xy = xy / max(xy[:, 0].std(), 1e-300)
    xy += _APART * np.random.default_rng(0).normal(size=xy.shape)
    return (_START * xy).astype(np.float32)


def _attraction(ties: scipy.sparse.csr_array, xy: np.ndarray) -> np.ndarray:
    """Σ p w (y - y') over the ties of each row, where w = 1 / (1 + |y - y'|²)."""
    degrees = np.diff(ties.indptr)
    x, y = (np.repeat(c, degrees) - c[ties.indices] for c in xy.T)
    weights = ties.data / (1 + x * x + y * y)
    starts = ties.indptr[:-1]
    return np.stack([np.add.reduceat(weights * each, starts) for each in (x, y)], 1)


class _Repulsion:
    """Σ w² (y - y') / Σ w over all pairs, by a grid that follows the map."""

    def __init__(self) -> None:
        self._size, self._step = 0, 0.0

    def at(self, xy: np.ndarray) -> np.ndarray:
        """The force on each row, of shape (n, 2)."""
        self._fit(float(np.ptp(xy, axis=0).max()))
        size, step = self._size, np.float32(self._step)
        cells, shares = _shares((xy - xy.min(axis=0)) / step + _MARGIN, size)
        counts = np.bincount(cells.ravel(), shares.ravel(), size * size)
        plane = counts.reshape(size, size).astype(np.float32)
        padded = (2 * size, 2 * size)
        transformed = scipy.fft.rfft2(plane, padded)
        fields = scipy.fft.irfft2(transformed * self._kernels, padded)
        fields = fields[:, :size, :size].reshape(3, -1)
        near, *forces = ((field[cells] * shares).sum(axis=0) for field in fields)
        # A row is no neighbour of itself.
        total = max(float(near.sum(dtype=np.float64)) - len(xy), 1e-12)
        return np.stack(forces, axis=1) / np.float32(total)

    def _fit(self, extent: float) -> None:
        """A grid for a map of that extent, and its kernels as the FFT has them."""
        step = min(_STEP, max(extent, 1e-12) / _FEWEST_POINTS)
        step = max(step, extent / _MOST_POINTS)
        needed = int(extent / step) + 2 * _MARGIN + 1
        if step == self._step and 0.7 * self._size < needed <= self._size:
            return
        self._step = step
        self._size = scipy.fft.next_fast_len(int(1.1 * needed), True)
        offsets = step * np.arange(-self._size, self._size).astype(np.float64)
        x, y = np.meshgrid(offsets, offsets, indexing="ij")
        w = 1 / (1 + x * x + y * y)
        kernels = np.stack([w, w * w * x, w * w * y])
        kernels = scipy.fft.rfft2(scipy.fft.ifftshift(kernels, axes=(1, 2)))
        # Rows are blurred twice, onto the grid and from it; kernels make up for it.
        blur = np.sinc(scipy.fft.fftfreq(len(x))) ** 6
        kernels /= np.outer(blur, blur[: self._size + 1])
        self._kernels = kernels.astype(np.complex64)


def _shares(places: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the nine points around each row, and how much of it each gets.

    Quadratic splines: forces do not jump as rows pass a point. Both of shape (9, n).
    """
    nearest = np.rint(places).astype(np.int64)
    off = (places - nearest).astype(np.float32)
    weights = np.stack([0.5 * (0.5 - off) ** 2, 0.75 - off**2, 0.5 * (0.5 + off) ** 2])
    shares = weights[:, None, :, 0] * weights[None, :, :, 1]
    steps = np.arange(-1, 2)
    cells = (nearest[:, 0] + steps[:, None])[:, None] * size
    cells = cells + (nearest[:, 1] + steps[:, None])[None]
    return cells.reshape(9, -1), shares.reshape(9, -1)
