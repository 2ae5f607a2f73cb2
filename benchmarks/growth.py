"""How the cost of a fit grows with rows, members, clusters and landmarks.

    python benchmarks/growth.py                                all four, one core
    python benchmarks/growth.py --vary clusters -o growth.jsonl
    python benchmarks/growth.py --vary rows --values 10000 100000 1000000 10000000
    python benchmarks/growth.py --table growth.jsonl
    python benchmarks/growth.py --plot growth.jsonl docs/images/growth.png

One quantity varies, the others stay at 20,000 rows, 4 members, 10 clusters and 400
landmarks. Rows are clouds in 32 columns; networks have 48-72-96 units. More than
131,072 rows come from a file, and fewer from memory, as anybody would do it: both
train for about 300 steps. Every fit has a process of its own, and its processor
seconds are told beside its seconds, since other work on the machine moves them less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

BASE = {"rows": 20_000, "members": 4, "clusters": 10, "landmarks": 400}
VALUES = {
    "rows": (10_000, 100_000, 1_000_000),
    "members": (1, 2, 4, 8, 16),
    "clusters": (5, 10, 20, 50, 100, 200),
    "landmarks": (100, 200, 400, 800, 1600, 3200),
}
N_COLUMNS, N_STEPS, BATCH = 32, 300, 256
IN_MEMORY, ROWS_OF_AN_EPOCH = 131_072, 131_072
CHUNK = 250_000


def clouds(n: int, n_clusters: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows ``start`` to ``start + n`` of a table of so many clouds."""
    centres = np.random.default_rng(0).standard_normal((n_clusters, N_COLUMNS))
    draw = np.random.default_rng([1, start])
    y = draw.integers(n_clusters, size=n)
    noise = draw.standard_normal((n, N_COLUMNS), dtype=np.float32)
    return centres.astype(np.float32)[y] + np.float32(0.6) * noise, y


def bring(n: int, n_clusters: int, folder: str) -> tuple[Any, np.ndarray]:
    """Rows in memory, or the path of a file where they are many; their clouds."""
    if n <= IN_MEMORY:
        return clouds(n, n_clusters, 0)
    path, y = Path(folder) / "rows.npy", np.empty(n, np.int16)
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n, N_COLUMNS))
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        array[start:stop], y[start:stop] = clouds(stop - start, n_clusters, start)
    array.flush()
    return path, y


def measure(case: dict[str, int], device: str) -> dict[str, Any]:
    from measure import Stopwatch, device_name, peak_megabytes

    from scedae import SCEDAE
    from scedae.metrics import evaluate

    per_epoch = min(case["rows"], ROWS_OF_AN_EPOCH) // BATCH
    settings: dict[str, Any] = {
        "hidden_layers": (48, 72, 96),
        "n_members": case["members"],
        "ensemble": "initialization",
        "n_row_members": 0,
        "n_landmarks": case["landmarks"],
        "batch_size": BATCH,
        "random_state": 0,
        "device": device,
    }
    warm = clouds(2000, 5, 0)[0]
    SCEDAE(5, **{**settings, "n_landmarks": 50, "epochs": 1}).fit(warm)
    with tempfile.TemporaryDirectory() as folder:
        X, y = bring(case["rows"], case["clusters"], folder)
        epochs = max(round(N_STEPS / per_epoch), 1)
        model = SCEDAE(case["clusters"], **settings, epochs=epochs)
        processor = time.process_time()
        with Stopwatch() as watch:
            model.fit(X)
        processor = time.process_time() - processor
        labels = np.array(model.labels_)
    return {
        **case,
        "seconds": round(watch.total, 2),
        "cpu_seconds": round(processor, 2),
        "verbs": {verb: round(s, 2) for verb, s in watch.stages.items()},
        "peak_megabytes": round(peak_megabytes()),
        "acc": round(100 * evaluate(y, labels)["acc"], 2),
        "device": device_name(device),
        "load": round(os.getloadavg()[0], 1),
    }


def in_a_process_of_its_own(case: dict[str, int], device: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", json.dumps(case), "--device", device]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def lines_of(records: list[dict[str, Any]], quantity: str) -> list[dict[str, Any]]:
    """Records in which one quantity varies, by its values; the last of each counts."""
    own = {r[quantity]: r for r in records if r["varied"] == quantity}
    return [own[value] for value in sorted(own)]


def table(records: list[dict[str, Any]]) -> None:
    """Seconds of each value, and the power by which they grow from the one before."""
    print("| | value | processor seconds | power | peak memory, MB | ACC |")
    print("|---|---|---|---|---|---|")
    for quantity in VALUES:
        found = lines_of(records, quantity)
        powers = [""] + [
            f"{np.log(b['cpu_seconds'] / a['cpu_seconds']) / np.log(step):.2f}"
            for a, b in pairwise(found)
            for step in [b[quantity] / a[quantity]]
        ]
        for record, power in zip(found, powers, strict=False):
            print(
                f"| {quantity} | {record[quantity]:,} | {record['cpu_seconds']:.1f} | "
                f"{power} | {record['peak_megabytes']:,} | {record['acc']:.1f} |"
            )


def plot(records: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [quantity for quantity in VALUES if lines_of(records, quantity)]
    figure, axes = plt.subplots(
        1, len(shown), figsize=(3.1 * len(shown), 3), squeeze=False
    )
    for axis, quantity in zip(axes[0], shown, strict=True):
        found = lines_of(records, quantity)
        values = np.array([record[quantity] for record in found])
        seconds = np.array([record["cpu_seconds"] for record in found])
        axis.loglog(values, seconds, "o-")
        axis.loglog(values, seconds[-1] * values / values[-1], ":", color="grey")
        axis.set(
            xlabel=quantity, title=f"by {quantity}", ylim=(seconds.min() / 2, None)
        )
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("processor seconds")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vary", nargs="+", choices=VALUES, default=list(VALUES))
    parser.add_argument("--values", nargs="+", type=int, help="of the one that varies")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("-o", "--output", type=Path, default=Path("growth.jsonl"))
    parser.add_argument("--table", type=Path, metavar="RECORDS")
    parser.add_argument("--plot", nargs=2, type=Path, metavar=("RECORDS", "PICTURE"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(json.loads(arguments.one), arguments.device)))
        return
    for path, show in ((arguments.table, table), ((arguments.plot or [None])[0], plot)):
        if path is not None:
            records = [json.loads(line) for line in path.read_text().splitlines()]
            show(records, *(arguments.plot or [None])[1:])
            return
    for quantity in arguments.vary:
        for value in arguments.values or VALUES[quantity]:
            case = {**BASE, quantity: value}
            found = in_a_process_of_its_own(case, arguments.device)
            record = {"varied": quantity, **found}
            with arguments.output.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
