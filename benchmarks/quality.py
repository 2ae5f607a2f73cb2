"""Quality: data sets x recipes x seeds → JSON lines and a table.

    python benchmarks/quality.py --data digits usps --recipes default kmeans lsc
    python benchmarks/quality.py --data mnist --recipes default -o quality.jsonl

Each finished run is appended to the output at once, and a run found there is not done
again: a stopped benchmark goes on where it was. ``--table FILE`` prints what is there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import device_name
from sklearn.cluster import KMeans

import scedae
from scedae import SCEDAE, LandmarkSpectralClustering, datasets
from scedae.baselines import AutoencoderKMeans, AutoencoderLSC
from scedae.metrics import evaluate

Data = tuple[np.ndarray, np.ndarray]


def _lifted(name: str, kind: str) -> Callable[[], Data]:
    def load() -> Data:
        H, y = datasets.load_fcps(name)
        return datasets.lift(H, kind, random_state=0), y

    return load


DATA: dict[str, Callable[[], Data]] = {
    "digits": datasets.load_digits,
    "pendigits": datasets.load_pendigits,
    "pendigits-train": lambda: datasets.load_pendigits("train"),
    "usps": datasets.load_usps,
    "mnist": datasets.load_mnist,
    "mnist-train": lambda: datasets.load_mnist("train"),
    **{
        name: lambda name=name: datasets.load_fcps(name) for name in datasets.FCPS_NAMES
    },
    **{
        f"{name}-{kind}": _lifted(name, kind)
        for name in ("tetra", "chainlink", "lsun")
        for kind in datasets.LIFTS
    },
}

RECIPES: dict[str, Callable[[int, int], Any]] = {
    "default": lambda k, seed: SCEDAE(k, random_state=seed),
    **{
        f"paper-{ensemble}": lambda k, seed, ensemble=ensemble: SCEDAE.paper(
            k, ensemble, random_state=seed
        )
        for ensemble in ("structure", "initialization", "epochs", "landmarks")
    },
    "kmeans": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "lsc": lambda k, seed: LandmarkSpectralClustering(k, random_state=seed),
    "dae-kmeans": lambda k, seed: AutoencoderKMeans(k, random_state=seed),
    "dae-lsc": lambda k, seed: AutoencoderLSC(k, random_state=seed),
}


def run(data: str, recipe: str, seed: int) -> dict[str, Any]:
    X, y = DATA[data]()
    estimator = RECIPES[recipe](len(np.unique(y)), seed)
    start = time.perf_counter()
    labels = estimator.fit_predict(X)
    seconds = time.perf_counter() - start
    on_gpu = torch.cuda.is_available() and hasattr(estimator, "device")
    scores = {name: round(100 * s, 2) for name, s in evaluate(y, labels).items()}
    return {
        "data": data,
        "recipe": recipe,
        "seed": seed,
        "rows": len(X),
        **scores,
        "seconds": round(seconds, 2),
        "device": device_name("cuda" if on_gpu else "cpu"),
        "versions": {"scedae": scedae.__version__, "torch": torch.__version__},
    }


def table(records: list[dict[str, Any]]) -> str:
    """Mean ± standard deviation over seeds, a line for each data set and recipe."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["data"], record["recipe"]), []).append(record)
    lines = [
        "| data | rows | recipe | ACC | NMI | ARI | seconds | seeds | device |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (data, recipe), runs in groups.items():
        cells = []
        for score in ("acc", "nmi", "ari"):
            values = [r[score] for r in runs]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            cells.append(f"{statistics.mean(values):.2f} ± {spread:.2f}")
        seconds = statistics.mean(r["seconds"] for r in runs)
        lines.append(
            f"| {data} | {runs[0]['rows']} | {recipe} | {' | '.join(cells)} "
            f"| {seconds:.1f} | {len(runs)} | {runs[0]['device']} |"
        )
    return "\n".join(lines)


def read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=["digits"])
    parser.add_argument(
        "--recipes", nargs="+", choices=RECIPES, default=["default", "kmeans", "lsc"]
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, default=Path("quality.jsonl"))
    parser.add_argument("--table", type=Path, help="only print the table of this file")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(read(arguments.table)))
        return
    done = {(r["data"], r["recipe"], r["seed"]) for r in read(arguments.output)}
    for data in arguments.data:
        for recipe in arguments.recipes:
            for seed in range(arguments.seeds):
                if (data, recipe, seed) in done:
                    continue
                record = run(data, recipe, seed)
                with arguments.output.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(json.dumps(record), file=sys.stderr, flush=True)
    print(table(read(arguments.output)))


if __name__ == "__main__":
    main()
