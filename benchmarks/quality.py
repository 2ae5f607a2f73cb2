"""Quality: data sets x recipes x seeds → JSON lines and tables.

    python benchmarks/quality.py                  every set, ours and all peers: hours
    python benchmarks/quality.py --data digits usps --recipes default kmeans evoc
    python benchmarks/quality.py --recipes fast default best      along ``effort``
    python benchmarks/quality.py --table docs/results/quality.jsonl
    python benchmarks/quality.py --folder outside      every NAME.npz there, X and y

Each finished run is appended to the output at once, and a run found there is not done
again: a stopped benchmark goes on where it was. ``--table FILE …`` prints what is
there, of all sets and recipes or of those named.
The peers' packages are the extra ``bench``; a recipe whose package is not installed,
and a set that is not on this machine, are left out with a message.

Seconds are those of ``fit_predict``, with rows in memory; what a recipe compiles when
it first runs is done before, on other rows. Megabytes are the growth of the process's
resident memory to its peak meanwhile.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import device_name, peak_megabytes, reset_peak, resident_megabytes
from quality_data import COMPARED, DATA, HALVES, Data, of_folder
from quality_recipes import RECIPES
from quality_table import table
from sklearn.datasets import make_blobs

from scedae.exceptions import DatasetNotFoundError
from scedae.metrics import evaluate

USUAL = ("default", "lsc", "kmeans", "spectral", "umap-gmm", "evoc", "evoc-nearest")


@functools.cache
def warm_up(recipe: str) -> None:
    # More than 4,096 rows: below that UMAP looks for neighbours in another way.
    X, _ = make_blobs(5000, 8, centers=5, random_state=0)
    RECIPES[recipe].make(5, 0).fit_predict(X.astype(np.float32))


def run(name: str, data: Data, recipe: str, seed: int) -> dict[str, Any]:
    X, y = data
    method = RECIPES[recipe]
    if method.packages:
        X = X.astype(np.float32)
    if method.compiles:
        warm_up(recipe)
    estimator = method.make(len(np.unique(y)), seed)
    before = resident_megabytes()
    reset_peak()
    start = time.perf_counter()
    labels = estimator.fit_predict(X)
    seconds = time.perf_counter() - start
    megabytes = peak_megabytes() - before
    on_gpu = torch.cuda.is_available() and hasattr(estimator, "device")
    scores = {name: round(100 * s, 2) for name, s in evaluate(y, labels).items()}
    return {
        "data": name,
        "recipe": recipe,
        "seed": seed,
        "rows": len(X),
        **scores,
        "clusters": len(np.unique(labels[labels >= 0])),
        "noise": round(100 * float(np.mean(labels < 0)), 2),
        "seconds": round(seconds, 2),
        "megabytes": round(megabytes),
        "device": device_name("cuda" if on_gpu else "cpu"),
        "versions": method.versions(),
    }


def obstacle(recipe: str, n_rows: int) -> str | None:
    """Why a recipe is left out, if it is."""
    method = RECIPES[recipe]
    if package := method.missing():
        return f"{package} is not installed (pip install '.[bench]')"
    if method.max_rows and n_rows > method.max_rows:
        return f"{n_rows:,} rows would take it too long (at most {method.max_rows:,})"
    return None


def read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def merged(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Records of all files; of a run that several have, that of the first."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for path in paths:
        for record in read(path):
            key = record["data"], record["recipe"], record["seed"]
            found.setdefault(key, record)
    return list(found.values())


def chosen(
    records: list[dict[str, Any]], data: list[str] | None, recipes: list[str] | None
) -> list[dict[str, Any]]:
    """Those of the sets and recipes named; all where none is."""
    return [
        record
        for record in records
        if (not data or record["data"] in data)
        and record["recipe"] in (recipes or RECIPES)
    ]


def ordered(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As sets and recipes are listed, whatever was run first."""
    data = list(dict.fromkeys([*DATA, *sorted({r["data"] for r in records})]))
    recipes = list(RECIPES)
    return sorted(
        records, key=lambda r: (data.index(r["data"]), recipes.index(r["recipe"]))
    )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run_all(
    sets: Mapping[str, Callable[[], Data]],
    recipes: Sequence[str],
    seeds: int,
    output: Path,
) -> None:
    done = {(r["data"], r["recipe"], r["seed"]) for r in read(output)}
    for name, load in sets.items():
        try:
            data = load()
        except DatasetNotFoundError as error:
            say(f"{name} is left out: {error}")
            continue
        for recipe in recipes:
            if reason := obstacle(recipe, len(data[0])):
                say(f"{recipe} on {name} is left out: {reason}")
                continue
            for seed in range(seeds):
                if (name, recipe, seed) in done:
                    continue
                record = json.dumps(run(name, data, recipe, seed))
                with output.open("a") as file:
                    file.write(record + "\n")
                say(record)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", metavar="NAME")
    parser.add_argument(
        "--folder", type=Path, help="sets that lie there, and no others"
    )
    parser.add_argument("--recipes", nargs="+", choices=RECIPES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, default=Path("quality.jsonl"))
    parser.add_argument(
        "--table", type=Path, nargs="+", help="only print the tables of these files"
    )
    arguments = parser.parse_args()
    known = of_folder(arguments.folder) if arguments.folder else DATA
    usual = list(known) if arguments.folder else COMPARED
    names, recipes = arguments.data or usual, arguments.recipes or USUAL
    if not arguments.table:
        if unknown := [name for name in names if name not in known]:
            parser.error(f"no such set: {', '.join(unknown)} ({', '.join(known)})")
        sets = {name: known[name] for name in names}
        run_all(sets, recipes, arguments.seeds, arguments.output)
    records = merged(arguments.table or [arguments.output])
    records = ordered(chosen(records, arguments.data, arguments.recipes))
    print(table(records, HALVES))


if __name__ == "__main__":
    main()
