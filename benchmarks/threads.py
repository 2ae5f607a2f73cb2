"""CPU and wall seconds of a fit with one thread and with as many as there are.

    python benchmarks/threads.py                              all of it, half an hour
    python benchmarks/threads.py --data blobs digits --efforts fast

Each fit has a process of its own, so that its environment decides on the threads.
It is measured with ``OMP_NUM_THREADS=1`` and without, on a quiet machine and beside
one busy process a core. Imports are not counted; the first fit of a process is, as a
user waits for it too. A table follows, then the targets with what was reached.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from measure import processor_name
from sklearn.datasets import make_blobs

from scedae import SCEDAE, datasets

DATA = {
    "blobs": lambda: make_blobs(800, 5, centers=5, random_state=0),
    "digits": datasets.load_digits,
    "usps": datasets.load_usps,
}
SMALL = ("blobs", "digits")
CLUSTERS = {"blobs": 5, "digits": 10, "usps": 10}
# OMP_NUM_THREADS of the child, and whether other processes keep all cores busy.
MODES = {
    "one": ("1", False),
    "default": (None, False),
    "one, busy": ("1", True),
    "default, busy": (None, True),
}


def fit_here(data: str, effort: str) -> None:
    """What the child does: one fit, and a line of what it took."""
    X, _ = DATA[data]()
    model = SCEDAE(CLUSTERS[data], effort=effort, random_state=0, device="cpu")
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    labels = int((model.labels_ * (1 + model.labels_.argsort() % 9973)).sum())
    print(json.dumps({"wall": wall, "cpu": cpu, "labels": labels}))


@contextmanager
def busy_cores() -> Iterator[None]:
    """One process a core that never waits for anything."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measured(data: str, effort: str, mode: str) -> dict[str, Any]:
    threads, busy = MODES[mode]
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = threads
    command = [sys.executable, __file__, "--fit", data, effort]
    if busy:
        with busy_cores():
            return _child(command, environment)
    return _child(command, environment)


def _child(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def table(found: dict[tuple[str, str, str], list[dict[str, Any]]]) -> str:
    """Medians, a line a fit; wall / CPU seconds a mode."""
    lines = [
        f"| wall / CPU seconds | {' | '.join(MODES)} | same labels |",
        "|---" * (len(MODES) + 2) + "|",
    ]
    for data, effort in dict.fromkeys((d, e) for d, e, _ in found):
        cells, labels = [], set()
        for mode in MODES:
            runs = found[data, effort, mode]
            labels |= {run["labels"] for run in runs}
            cells.append(f"{median(runs, 'wall'):.2f} / {median(runs, 'cpu'):.2f}")
        same = "yes" if len(labels) == 1 else "no"
        lines.append(f"| {data}, {effort} | {' | '.join(cells)} | {same} |")
    return "\n".join(lines)


def median(runs: list[dict[str, Any]], what: str) -> float:
    return statistics.median(run[what] for run in runs)


def targets(found: dict[tuple[str, str, str], list[dict[str, Any]]]) -> list[str]:
    """Ratios of the default to one thread, beside what they should be."""
    lines = []
    for data, effort in dict.fromkeys((d, e) for d, e, _ in found):

        def ratio(
            what: str, mode: str, data: str = data, effort: str = effort
        ) -> float:
            suffix = ", busy" if mode.endswith("busy") else ""
            one = found[data, effort, f"one{suffix}"]
            return median(found[data, effort, mode], what) / median(one, what)

        if data in SMALL:
            cpu = ratio("cpu", "default")
            lines.append(f"{data}, {effort}: CPU {cpu:.2f} of one thread (≤ 1.25)")
        wall = ratio("wall", "default, busy")
        lines.append(
            f"{data}, {effort}: wall beside busy cores {wall:.2f} of one thread (≤ 1.5)"
        )
        if data not in SMALL:
            gain = 1 / ratio("wall", "default")
            lines.append(
                f"{data}, {effort}: idle cores {gain:.2f} times as fast (≥ 1.5)"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    efforts = ("fast", "default")
    parser.add_argument("--efforts", nargs="+", choices=efforts, default=efforts)
    parser.add_argument("--repeats", type=int, default=3, help="of small data")
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        return fit_here(*arguments.fit)
    print(f"{processor_name()}, {len(os.sched_getaffinity(0))} cores", flush=True)
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for data in arguments.data:
        for effort in arguments.efforts:
            repeats = arguments.repeats if data in SMALL else 1
            for _ in range(repeats):
                for mode in MODES:
                    run = measured(data, effort, mode)
                    found.setdefault((data, effort, mode), []).append(run)
                    print(
                        json.dumps(
                            {"data": data, "effort": effort, "mode": mode, **run}
                        ),
                        file=sys.stderr,
                        flush=True,
                    )
    print(table(found), *targets(found), sep="\n")
    return None


if __name__ == "__main__":
    main()
