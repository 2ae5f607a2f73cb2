"""The first things people try: ours beside the best of four peers, case by case.

    python benchmarks/sanity.py --seeds 5 --jobs 2             fast and default: an hour
    python benchmarks/sanity.py --efforts fast --seeds 1       a few minutes
    python benchmarks/sanity.py --count --efforts fast         n_clusters="auto" as well
    python benchmarks/sanity.py --shapes CLONE    see classic_shapes.py

A case counts where the best of k-means, a Gaussian mixture, HDBSCAN and scikit-learn's
spectral clustering has an ARI of 0.95. Ours holds there if it is at most 0.03 below.
Rows with the label -1 are noise and are not scored. Each fit runs in one thread.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from classic_shapes import classic_shapes
from joblib import Parallel, delayed
from sanity_cases import CASES, Case
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from scedae import SCEDAE

CLEAR, SLACK = 0.95, 0.03

PEERS: dict[str, Callable[[int, int], Any]] = {
    "kmeans": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "mixture": lambda k, seed: GaussianMixture(k, n_init=3, random_state=seed),
    "hdbscan": lambda _k, _seed: HDBSCAN(copy=True),
    "spectral": lambda k, seed: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=seed
    ),
}


def ari(y: np.ndarray, labels: np.ndarray) -> float:
    known = y >= 0
    return float(adjusted_rand_score(y[known], labels[known]))


def run(
    name: str, case: Case, seed: int, efforts: list[str], *, count: bool
) -> dict[str, Any]:
    X, y = case.make(seed)
    found: dict[str, Any] = {"case": name, "seed": seed}
    found |= {"asked": case.n_clusters, "truth": case.truth}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for peer, make in PEERS.items():
            labels = make(case.n_clusters, seed).fit_predict(X)
            found[peer] = ari(y, labels)
    for effort in efforts:
        found[effort], found[f"{effort} warned"], fitted = ours(
            X, y, case.n_clusters, effort, seed
        )
        found[f"{effort} stability"] = fitted.stability_
        if count:
            _, found[f"{effort} auto warned"], fitted = ours(X, y, "auto", effort, seed)
            found[f"{effort} auto"] = fitted.n_clusters_
    return found


def ours(
    X: np.ndarray, y: np.ndarray, k: int | str, effort: str, seed: int
) -> tuple[float, bool, SCEDAE]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = SCEDAE(k, effort=effort, random_state=seed, device="cpu").fit(X)
    return ari(y, fitted.labels_), bool(said), fitted


def best_peer(record: dict[str, Any]) -> float:
    """Of the peers that were asked for the same: HDBSCAN cannot be told a number."""
    told = record["asked"] == record["truth"]
    asked = [p for p in PEERS if p != "hdbscan" or told]
    return max(record[peer] for peer in asked)


def lost(records: list[dict[str, Any]], effort: str) -> tuple[list, int]:
    """Fits that are over the slack below the best peer, and how many were clear."""
    clear = [record for record in records if best_peer(record) >= CLEAR]
    below = [r for r in clear if r[effort] < best_peer(r) - SLACK]
    return below, len(clear)


def counted(records: list[dict[str, Any]], effort: str) -> dict[str, Any]:
    """How often ``"auto"`` finds the number, of cases that have one over 1."""
    named = [r for r in records if (r["truth"] or 0) > 1]
    errors = [abs(r[f"{effort} auto"] - r["truth"]) for r in named]
    none = [r for r in records if r["truth"] == 1]
    return {
        "exact": np.mean([e == 0 for e in errors]),
        "within one": np.mean([e <= 1 for e in errors]),
        "no clusters, and warned": np.mean([r[f"{effort} auto warned"] for r in none]),
        "wrong": [
            (r["case"], r["seed"], r[f"{effort} auto"])
            for r, e in zip(named, errors, strict=True)
            if e
        ],
    }


def summary(records: list[dict[str, Any]], efforts: list[str], *, count: bool) -> None:
    for effort in efforts:
        means = {who: np.mean([r[who] for r in records]) for who in (effort, *PEERS)}
        print("mean ARI:", ", ".join(f"{who} {v:.3f}" for who, v in means.items()))
        below, n_clear = lost(records, effort)
        held = 1 - len(below) / max(n_clear, 1)
        print(f"{effort}: holds in {held:.1%} of {n_clear} clear fits")
        for r in below:
            words = "warned" if r[f"{effort} warned"] else "SILENT"
            print(
                f"  {r['case']}, seed {r['seed']}: {r[effort]:.2f}, best peer "
                f"{best_peer(r):.2f}, stability {r[f'{effort} stability']:.2f}, {words}"
            )
        if count:
            for what, value in counted(records, effort).items():
                print(f"  auto, {what}: {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--efforts", nargs="+", default=["fast", "default"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cases", nargs="+", help="by name")
    parser.add_argument("--shapes", type=Path, help="those of a clone, and no others")
    parser.add_argument("--count", action="store_true", help="n_clusters='auto' too")
    parser.add_argument("-o", "--output", type=Path, help="JSON lines")
    asked = parser.parse_args()
    cases = classic_shapes(asked.shapes) if asked.shapes else CASES
    names = asked.cases or list(cases)
    todo = [(name, seed) for name in names for seed in range(asked.seeds)]
    records = Parallel(n_jobs=asked.jobs, verbose=1)(
        delayed(run)(name, cases[name], seed, asked.efforts, count=asked.count)
        for name, seed in todo
    )
    if asked.output:
        lines = (json.dumps(record) + "\n" for record in records)
        asked.output.write_text("".join(lines))
    summary(records, asked.efforts, count=asked.count)


if __name__ == "__main__":
    main()
