"""Shapes in the plane, up to 20 million rows, fitted from a file.

    python benchmarks/shapes.py                         all five, 200,000 rows each
    python benchmarks/shapes.py --full                  1, 2, 5, 10 and 20 million rows
    python benchmarks/shapes.py --shapes flower --rows 2000000 --estimator lsc
    python benchmarks/shapes.py --draw shapes.png       a look at them

The shapes are those that Huang et al. (Ultra-scalable spectral clustering and ensemble
clustering, 2020) describe in their experiments, from recipes of our own: two bananas,
a smiling face, concentric circles, circles and Gaussians, a flower. Clusters are fuzzy
and touch a little, so that no partition is perfect: ``reachable_nmi`` is what somebody
would have who knows the recipe and puts each row to its likeliest cluster (on a
sample, by nearest neighbours among rows whose cluster is known).

Rows are written block by block to an .npy file; their clusters are written to another
one, to be scored by, and never enter a fit. Every fit has a process of its own. Memory
is the peak of its resident set, imports included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

BLOCK = 1 << 18

Rows = np.ndarray
Draw = np.random.Generator


def ring(n: int, draw: Draw, radius: float, width: float) -> Rows:
    """Around the origin, at a normally distributed distance."""
    angle = draw.uniform(0, 2 * np.pi, n)
    away = draw.normal(radius, width, n)
    return away[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def arc(
    n: int, draw: Draw, start: float, stop: float, radius: float, width: float
) -> Rows:
    """A part of a circle, with normal noise around it; angles in half turns."""
    angle = np.pi * draw.uniform(start, stop, n)
    line = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return line + draw.normal(0, width, (n, 2))


def cloud(n: int, draw: Draw, x: float, y: float, width: float) -> Rows:
    return draw.normal((x, y), width, (n, 2))


def petal(n: int, draw: Draw, turn: float) -> Rows:
    """An ellipse that points away from the origin, filled evenly, with a fuzzy rim."""
    angle = draw.uniform(0, 2 * np.pi, n)
    away = np.sqrt(draw.random(n))
    along = 3.1 + 1.4 * away * np.cos(angle)
    across = 0.52 * away * np.sin(angle)
    c, s = np.cos(np.pi * turn), np.sin(np.pi * turn)
    turned = np.column_stack([c * along - s * across, s * along + c * across])
    return turned + draw.normal(0, 0.07, (n, 2))


Part = Callable[[int, Draw], Rows]


class Shape(NamedTuple):
    """Clusters as functions of a number of rows and a generator, and their shares."""

    parts: tuple[Part, ...]
    shares: tuple[float, ...]
    n_rows: int  # in the publication

    def block(self, n: int, draw: Draw) -> tuple[Rows, np.ndarray]:
        """So many rows in random order, and their clusters."""
        y = draw.choice(len(self.parts), n, p=np.divide(self.shares, sum(self.shares)))
        X = np.empty((n, 2), np.float32)
        for cluster, part in enumerate(self.parts):
            own = np.flatnonzero(y == cluster)
            X[own] = part(len(own), draw)
        return X, y


def moved(part: Part, x: float, y: float) -> Part:
    return lambda n, draw: part(n, draw) + np.array([x, y])


def _bananas() -> Shape:
    upper = moved(lambda n, draw: arc(n, draw, 0, 1, 1.0, 0.1), -0.5, -0.25)
    lower = moved(lambda n, draw: arc(n, draw, 1, 2, 1.0, 0.1), 0.5, 0.25)
    return Shape((upper, lower), (1, 1), 1_000_000)


def _face() -> Shape:
    return Shape(
        (
            lambda n, draw: ring(n, draw, 3.0, 0.15),
            lambda n, draw: cloud(n, draw, -1.1, 1.1, 0.28),
            lambda n, draw: cloud(n, draw, 1.1, 1.1, 0.28),
            lambda n, draw: arc(n, draw, 1.15, 1.85, 1.8, 0.12),
        ),
        (5, 1, 1, 3),
        2_000_000,
    )


def _circles() -> Shape:
    return Shape(
        tuple(lambda n, draw, r=r: ring(n, draw, r, 0.14) for r in (1.0, 2.0, 3.0)),
        (1, 2, 3),
        5_000_000,
    )


def _circles_and_clouds() -> Shape:
    """Two pairs of circles, and seven clouds around them."""
    parts: list[Part] = []
    for x in (-4.0, 4.0):
        for radius in (1.0, 2.0):
            parts.append(
                moved(lambda n, draw, r=radius: ring(n, draw, r, 0.14), x, 0.0)
            )
    places = [(-5.5, 4.2), (-1.8, 4.0), (1.8, 4.0), (5.5, 4.2)]
    places += [(-3.5, -4.2), (0.0, -3.5), (3.5, -4.2)]
    for x, y in places:
        parts.append(lambda n, draw, x=x, y=y: cloud(n, draw, x, y, 0.5))
    return Shape(tuple(parts), (1, 2, 1, 2, *[1] * 7), 10_000_000)


def _flower() -> Shape:
    """Twelve petals and a middle."""

    def middle(n: int, draw: Draw) -> Rows:
        return cloud(n, draw, 0.0, 0.0, 0.48)

    petals = [lambda n, draw, i=i: petal(n, draw, i / 6) for i in range(12)]
    return Shape((middle, *petals), (2, *[1] * 12), 20_000_000)


SHAPES = {
    "bananas": _bananas(),
    "face": _face(),
    "circles": _circles(),
    "circles-and-clouds": _circles_and_clouds(),
    "flower": _flower(),
}
ESTIMATORS = ("scedae", "lsc")


def write_rows(name: str, n_rows: int, folder: Path) -> Path:
    """The rows of a shape and their clusters as files; once."""
    path = folder / f"{name}-{n_rows}.npy"
    classes = folder / f"{name}-{n_rows}.classes.npy"
    if classes.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, 2))
    y = np.empty(n_rows, np.uint8)
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        draw = np.random.default_rng([0, list(SHAPES).index(name), start])
        X[start:stop], y[start:stop] = SHAPES[name].block(stop - start, draw)
    X.flush()
    np.save(classes, y)
    return path


def reachable_nmi(name: str, n: int = 60_000) -> float:
    """What nearest neighbours among rows whose cluster is known would have."""
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.neighbors import KNeighborsClassifier

    X, y = SHAPES[name].block(2 * n, np.random.default_rng(1))
    found = KNeighborsClassifier(50).fit(X[:n], y[:n]).predict(X[n:])
    return float(100 * normalized_mutual_info_score(y[n:], found))


def model(estimator: str, n_clusters: int, seed: int) -> Any:
    from scedae import SCEDAE, LandmarkSpectralClustering

    if estimator == "lsc":
        return LandmarkSpectralClustering(
            n_clusters, embedding="diffusion", random_state=seed, device="cpu"
        )
    # Two columns have nothing for wide networks to find.
    return SCEDAE(
        n_clusters,
        effort="fast",
        hidden_layers=(48, 72, 96),
        n_members=2,
        random_state=seed,
        device="cpu",
    )


def measure(
    estimator: str, name: str, n_rows: int, folder: Path, seed: int
) -> dict[str, Any]:
    from measure import Stopwatch, peak_megabytes
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    path = folder / f"{name}-{n_rows}.npy"
    shape = SHAPES[name]
    with Stopwatch() as watch:
        fitted = model(estimator, len(shape.parts), seed).fit(path)
    peak = peak_megabytes()
    y = np.load(folder / f"{name}-{n_rows}.classes.npy")
    labels = np.asarray(fitted.labels_)
    graph = next(graph for graph in fitted.candidates_ if graph.chosen)
    return {
        "shape": name,
        "estimator": estimator,
        "rows": n_rows,
        "clusters": len(shape.parts),
        "seed": seed,
        "seconds": round(watch.total, 1),
        "verbs": {verb: round(s, 1) for verb, s in watch.stages.items()},
        "peak_megabytes": round(peak),
        "nmi": round(100 * normalized_mutual_info_score(y, labels), 2),
        "ari": round(100 * adjusted_rand_score(y, labels), 2),
        "graph": [graph.n_landmarks, graph.n_neighbors],
    }


def in_a_process_of_its_own(
    estimator: str, name: str, n_rows: int, folder: Path, seed: int
) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", "--shapes", name]
    command += ["--rows", str(n_rows), "--estimator", estimator, "--seed", str(seed)]
    command += ["--folder", str(folder)]
    load = os.getloadavg()[0]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {**json.loads(done.stdout.splitlines()[-1]), "load_before": round(load, 1)}


def picture(path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 5, figsize=(16, 3.6))
    for axis, (name, shape) in zip(axes, SHAPES.items(), strict=True):
        X, y = shape.block(8000, np.random.default_rng(0))
        axis.scatter(*X.T, c=y, s=0.6, cmap="tab20", linewidths=0)
        axis.set(title=name, aspect="equal", xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--full", action="store_true", help="as many as published")
    parser.add_argument("--estimator", choices=ESTIMATORS, default="scedae")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("out/shapes"))
    parser.add_argument("-o", "--output", type=Path, default=Path("shapes.jsonl"))
    parser.add_argument("--draw", type=Path, metavar="PICTURE")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.draw:
        picture(arguments.draw)
        return
    for name in arguments.shapes:
        n_rows = SHAPES[name].n_rows if arguments.full else arguments.rows
        job = arguments.estimator, name, n_rows, arguments.folder, arguments.seed
        if arguments.one:
            print(json.dumps(measure(*job)))
            return
        start = time.perf_counter()
        write_rows(name, n_rows, arguments.folder)
        writing = time.perf_counter() - start
        record = in_a_process_of_its_own(*job)
        record |= {
            "writing_seconds": round(writing, 1),
            "reachable_nmi": round(reachable_nmi(name), 1),
        }
        with arguments.output.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
