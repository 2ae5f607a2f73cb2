"""The first things people try: small data whose clusters anybody can see.

Each case is made by a seed. ``n_clusters`` is what a fit is asked for; ``truth`` is the
number that the data have, where they have one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import minmax_scale

Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    make: Callable[[int], Data]
    n_clusters: int
    truth: int | None


def far_blobs(
    sizes: Sequence[int],
    n_columns: int,
    seed: int,
    width: float | Sequence[float] = 1.0,
    apart: float = 8.0,
) -> Data:
    """Round clusters whose centres are at least ``apart`` widths from each other."""
    draw = np.random.default_rng([seed, n_columns, *sizes])
    widths = np.broadcast_to(np.asarray(width, float), len(sizes))
    box = apart * widths.max() * (1 + len(sizes) ** (1 / n_columns))
    centers: list[np.ndarray] = []
    while len(centers) < len(sizes):
        center = draw.uniform(-box, box, n_columns)
        if all(np.linalg.norm(center - c) >= apart * widths.max() for c in centers):
            centers.append(center)
    parts = [
        center + own * draw.standard_normal((size, n_columns))
        for center, own, size in zip(centers, widths, sizes, strict=True)
    ]
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)


def spirals(n_rows: int, seed: int) -> Data:
    draw = np.random.default_rng(seed)
    angle = np.sqrt(draw.uniform(0.05, 1, n_rows // 2)) * 3 * np.pi
    arm = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    X = np.concatenate([arm, -arm])
    return X + 0.3 * draw.standard_normal(X.shape), np.repeat([0, 1], n_rows // 2)


def stretched(n_rows: int, seed: int) -> Data:
    """Three long clusters, as on scikit-learn's page of comparisons."""
    X, y = datasets.make_blobs(n_rows, random_state=170)
    noise = np.random.default_rng(seed).standard_normal(X.shape)
    return (X + 0.05 * noise) @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def varied(n_rows: int, seed: int) -> Data:
    """Three clusters of different widths, as there."""
    X, y = datasets.make_blobs(n_rows, cluster_std=[1, 2.5, 0.5], random_state=170)
    return X + 0.05 * np.random.default_rng(seed).standard_normal(X.shape), y


def wild_units(seed: int) -> Data:
    X, y = far_blobs([200] * 4, 5, seed)
    return X * np.array([1, 1e3, 1e-3, 10, 1e5]), y


def with_flags(shares: Sequence[float], seed: int) -> Data:
    """Clusters in six columns of several units, beside columns of two values."""
    X, y = far_blobs([200] * 3, 6, seed)
    draw = np.random.default_rng(seed)
    flags = draw.random((len(X), len(shares))) < shares
    return np.column_stack([X * [1, 5, 20, 0.1, 3, 1], flags]), y


def from_0_to_1(seed: int) -> Data:
    X, y = with_flags((0.5, 0.2), seed)
    return minmax_scale(X), y


def skewed(seed: int) -> Data:
    """Clusters in the logarithms of the columns, as of incomes or concentrations."""
    X, y = far_blobs([200] * 4, 5, seed)
    return np.exp(X / X.std(0)) * np.array([1, 1e3, 1e-3, 10, 1e5]), y


def with_outliers(share: float, seed: int) -> Data:
    """Four clusters and rows anywhere, which have the label -1 and are not scored."""
    X, y = far_blobs([200] * 4, 5, seed)
    n_out = int(share * len(X))
    low, high = X.min(0), X.max(0)
    out = np.random.default_rng(seed).uniform(low, high, (n_out, X.shape[1]))
    return np.concatenate([X, out]), np.concatenate([y, np.full(n_out, -1)])


def repeated(seed: int) -> Data:
    X, y = far_blobs([30] * 4, 3, seed)
    return np.repeat(X, 10, axis=0), np.repeat(y, 10)


def framed(seed: int) -> Data:
    """A long thin frame around four squares: walks along it are slow."""
    draw = np.random.default_rng(seed)
    sizes = 1800, 280, 280, 280, 280
    side, along = draw.integers(0, 4, sizes[0]), draw.uniform(-1, 1, sizes[0])
    edge = np.where(side % 2, 1, -1) + 0.02 * draw.standard_normal(sizes[0])
    lies = (side < 2)[:, None]
    frame = np.where(lies, np.c_[along, edge], np.c_[edge, along])
    corners = [(x, y) for x in (-0.4, 0.4) for y in (-0.4, 0.4)]
    squares = [np.array(at) + draw.uniform(-0.25, 0.25, (280, 2)) for at in corners]
    return np.concatenate([frame, *squares]), np.repeat(range(5), sizes)


def ring_and_groups(seed: int) -> Data:
    """A ring, what lies in it, and three groups of ten rows outside."""
    draw = np.random.default_rng(seed)
    X, y = datasets.make_circles(1000, factor=0.4, noise=0.04, random_state=seed)
    places = np.array([[2.0, 0.3], [-1.8, 1.4], [0.2, -2.1]])
    groups = np.repeat(places, 10, axis=0) + 0.05 * draw.standard_normal((30, 2))
    return np.concatenate([X, groups]), np.r_[y, np.repeat([2, 3, 4], 10)]


def near_and_far(seed: int) -> Data:
    """Seven groups, and eight close together that are one from afar."""
    draw = np.random.default_rng(seed)
    turn = 2 * np.pi * np.arange(8) / 8
    near = 1.5 * np.c_[np.cos(turn), np.sin(turn)]
    far = 6 * np.c_[np.cos(turn[:7] * 8 / 7), np.sin(turn[:7] * 8 / 7)]
    centers = np.repeat(np.concatenate([near, far]), 40, axis=0)
    X = centers + 0.2 * draw.standard_normal(centers.shape)
    return X, np.r_[np.zeros(320, int), np.repeat(np.arange(1, 8), 40)]


def cloud(n_rows: int, n_columns: int, seed: int, *, uniform: bool) -> Data:
    draw = np.random.default_rng(seed)
    shape = n_rows, n_columns
    X = draw.random(shape) if uniform else draw.standard_normal(shape)
    return X, np.zeros(n_rows, int)


def _blobs(sizes: Sequence[int], n_columns: int, **more: object) -> Case:
    def make(seed: int) -> Data:
        return far_blobs(sizes, n_columns, seed, **more)  # type: ignore[arg-type]

    return Case(make, len(sizes), len(sizes))


def _known(make: Callable[[int], Data], n_clusters: int) -> Case:
    return Case(make, n_clusters, n_clusters)


def _cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for k in (2, 3, 5, 10, 20, 30):
        for d in (2, 5, 10, 50):
            found[f"{k} blobs, {d} columns"] = _blobs([max(60, 600 // k)] * k, d)
    for d in (2, 5, 10, 50):
        for sizes in ((500, 60, 20), (1000, 100, 50), (500, 250, 100), (375, 300, 15)):
            words = "+".join(map(str, sizes))
            found[f"blobs of {words} rows, {d} columns"] = _blobs(sizes, d)
    for d in (2, 10):
        widths = [0.2, 1, 0.5, 0.1]
        found[f"blobs of four widths, {d} columns"] = _blobs([200] * 4, d, width=widths)
    for n in (300, 1000, 5000):
        moons = lambda seed, n=n: datasets.make_moons(n, noise=0.05, random_state=seed)  # noqa: E731
        rings = lambda seed, n=n: datasets.make_circles(  # noqa: E731
            n, factor=0.5, noise=0.05, random_state=seed
        )
        found[f"moons, {n} rows"] = _known(moons, 2)
        found[f"circles, {n} rows"] = _known(rings, 2)
        found[f"stretched, {n} rows"] = _known(lambda s, n=n: stretched(n, s), 3)
        found[f"varied, {n} rows"] = _known(lambda s, n=n: varied(n, s), 3)
    for n in (1000, 3000):
        found[f"spirals, {n} rows"] = _known(lambda s, n=n: spirals(n, s), 2)
    for k in (3, 12):
        words = f"6 far blobs, asked for {k}"
        found[words] = Case(lambda s: far_blobs([100] * 6, 5, s, apart=30), k, 6)
    found["20 far blobs, asked for 5"] = Case(
        lambda s: far_blobs([130] * 20, 5, s, apart=30), 5, 20
    )
    found["frame around four squares"] = _known(framed, 5)
    found["ring and three groups of 10 rows"] = _known(ring_and_groups, 5)
    found["groups of which eight are one"] = Case(near_and_far, 8, None)
    found["repeated rows"] = _known(repeated, 4)
    for share in (0.01, 0.05):
        found[f"outliers, {share:.0%}"] = Case(
            lambda s, share=share: with_outliers(share, s), 4, 4
        )
    found["wild units"] = _known(wild_units, 4)
    found["skewed columns"] = _known(skewed, 4)
    for shares in ((0.5,), (0.2,), (0.5, 0.3, 0.1)):
        words = ", ".join(f"{share:.0%}" for share in shares)
        found[f"flags of {words}"] = _known(lambda s, p=shares: with_flags(p, s), 3)
    found["flags, from 0 to 1"] = _known(from_0_to_1, 3)
    for d in (2, 10):
        found[f"one blob, {d} columns"] = Case(
            lambda s, d=d: cloud(800, d, s, uniform=False), 3, 1
        )
        found[f"uniform noise, {d} columns"] = Case(
            lambda s, d=d: cloud(800, d, s, uniform=True), 3, 1
        )
    return found


CASES = _cases()
