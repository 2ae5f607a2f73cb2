"""Rows that do not fit: time, memory and quality from a file and on a Dask cluster.

    python benchmarks/out_of_core.py                        1 and 10 million rows
    python benchmarks/out_of_core.py --rows 1000000 --routes file -o records.jsonl
    python benchmarks/out_of_core.py --plot records.jsonl docs/images/scaling.png

Rows are 10 overlapping clouds in 32 columns (float32; 10 million are 1.28 GB). They
are written in blocks into ``--folder``, as .npy for the routes ``memory`` (the array is
loaded) and ``file`` (its path is passed), and as Zarr for ``cluster`` (a LocalCluster
of two workers with one thread each). Every fit has a process of its own. Memory is the
peak of the proportional set size of that process and its children, looked at every
quarter of a second: shared libraries count once, mapped pages of files count.

Six members of 48-72-96 and 200 landmarks. Elsewhere an epoch is 131,072 rows, so that
8 epochs there are as many steps as one epoch over a million rows in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from measure import Stopwatch

ROWS = (1_000_000, 10_000_000)
N_COLUMNS, N_CLUSTERS, NOISE = 32, 10, 1.5
ROUTES = ("memory", "file", "cluster")
ESTIMATORS = ("scedae", "lsc")
CHUNK = 250_000


def clouds(n: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows ``start`` to ``start + n`` of the one endless table, and their clouds."""
    centres = np.random.default_rng(0).standard_normal((N_CLUSTERS, N_COLUMNS))
    generator = np.random.default_rng([1, start])
    y = generator.integers(N_CLUSTERS, size=n)
    noise = generator.standard_normal((n, N_COLUMNS), dtype=np.float32)
    return centres.astype(np.float32)[y] + np.float32(NOISE) * noise, y


def write_rows(folder: Path, n: int) -> None:
    """The rows as .npy and as Zarr, with their clouds beside them; once."""
    import zarr

    done = folder / f"{n}.done"
    if done.exists():
        return
    shape = (n, N_COLUMNS)
    array = np.lib.format.open_memmap(folder / f"{n}.npy", "w+", np.float32, shape)
    chunks = (CHUNK, N_COLUMNS)
    copy = zarr.create_array(
        folder / f"{n}.zarr", shape=shape, chunks=chunks, dtype="f4", overwrite=True
    )
    classes = []
    for start in range(0, n, CHUNK):
        X, y = clouds(min(CHUNK, n - start), start)
        array[start : start + CHUNK] = copy[start : start + CHUNK] = X
        classes.append(y)
    array.flush()
    np.save(folder / f"{n}.classes.npy", np.concatenate(classes))
    done.touch()


def model(estimator: str, route: str) -> Any:
    from scedae import SCEDAE, LandmarkSpectralClustering

    shared: dict[str, Any] = {"n_landmarks": 200, "random_state": 0, "device": "cpu"}
    if estimator == "lsc":
        return LandmarkSpectralClustering(N_CLUSTERS, **shared)
    epochs = 1 if route == "memory" else 8
    return SCEDAE(N_CLUSTERS, hidden_layers=(48, 72, 96), epochs=epochs, **shared)


def received(dask_worker: Any) -> list[int]:
    """Bytes that a worker got from others, message by message."""
    return [message["total"] for message in dask_worker.transfer_incoming_log]


def fit_on_cluster(estimator: str, path: Path) -> tuple[Any, Stopwatch, list[int]]:
    import dask.array as da
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as it,
        Client(it) as client,
    ):
        with Stopwatch() as watch:
            fitted = model(estimator, "cluster").fit(da.from_zarr(path))
        sizes = [size for log in client.run(received).values() for size in log]
        return np.asarray(fitted.labels_), watch, sizes


def measure(estimator: str, route: str, n: int, folder: Path) -> dict[str, Any]:
    """Seconds of one fit, and its score."""
    from scedae.metrics import evaluate

    extra = {}
    if route == "cluster":
        labels, watch, sizes = fit_on_cluster(estimator, folder / f"{n}.zarr")
        extra["moved_megabytes"] = round(sum(sizes) / 1e6, 1)
        extra["largest_message_megabytes"] = round(max(sizes, default=0) / 1e6, 1)
    else:
        path = folder / f"{n}.npy"
        X = np.load(path) if route == "memory" else path
        with Stopwatch() as watch:
            labels = model(estimator, route).fit(X).labels_
    y = np.load(folder / f"{n}.classes.npy")
    verbs = {verb: round(seconds, 1) for verb, seconds in watch.stages.items()}
    return {
        "seconds": round(watch.total, 1),
        "verbs": verbs,
        "acc": round(100 * evaluate(y, np.asarray(labels))["acc"], 2),
        **extra,
    }


def memory_of(process: psutil.Process) -> float:
    """Megabytes of a process and its children, shared pages counted in shares."""
    total = 0
    for member in [process, *process.children(recursive=True)]:
        try:
            total += member.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total / 1e6


def cpu_seconds() -> float:
    """Of processes that have ended: unlike time, hardly moved by other work."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_a_process_of_its_own(
    estimator: str, route: str, n: int, folder: Path
) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", "--rows", str(n)]
    command += ["--routes", route, "--estimators", estimator, "--folder", str(folder)]
    load, before = os.getloadavg()[0], cpu_seconds()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak, over = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        process = psutil.Process(child.pid)
        while not over.wait(0.25):
            try:
                peak = max(peak, memory_of(process))
            except psutil.NoSuchProcess:
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = child.communicate()
    over.set()
    watcher.join()
    if child.returncode:
        sys.exit(f"{estimator}, {route}, {n} rows: exit code {child.returncode}")
    return {
        "estimator": estimator,
        "route": route,
        "rows": n,
        **json.loads(output.splitlines()[-1]),
        "cpu_seconds": round(cpu_seconds() - before, 1),
        "peak_megabytes": round(peak),
        "load_before": round(load, 1),
    }


def plot(records: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    quantities = (("seconds", "seconds"), ("peak_megabytes", "peak memory, MB"))
    for axis, (key, name) in zip(axes, quantities, strict=True):
        for colour, estimator in enumerate(ESTIMATORS):
            for style, route in zip(("x:", "o-", "s--"), ROUTES, strict=True):
                line = sorted(
                    (record["rows"], record[key])
                    for record in records
                    if (record["estimator"], record["route"]) == (estimator, route)
                )
                if line:
                    label = f"{estimator}, {route}"
                    numbers = zip(*line, strict=True)
                    axis.loglog(*numbers, style, color=f"C{colour}", label=label)
        axis.set(xlabel="rows", ylabel=name)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--routes", nargs="+", choices=ROUTES, default=ROUTES)
    parser.add_argument(
        "--estimators", nargs="+", choices=ESTIMATORS, default=ESTIMATORS
    )
    parser.add_argument("--folder", type=Path, default=Path("out/out_of_core"))
    parser.add_argument("-o", "--output", type=Path, default=Path("out_of_core.jsonl"))
    parser.add_argument("--plot", nargs=2, type=Path, metavar=("RECORDS", "PICTURE"))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plot:
        lines = arguments.plot[0].read_text().splitlines()
        plot([json.loads(line) for line in lines], arguments.plot[1])
        return
    if arguments.one:
        (estimator,), (route,) = arguments.estimators, arguments.routes
        (n,) = arguments.rows
        print(json.dumps(measure(estimator, route, n, arguments.folder)))
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for n in arguments.rows:
        start = time.perf_counter()
        write_rows(arguments.folder, n)
        print(f"{n} rows written in {time.perf_counter() - start:.0f} s", flush=True)
        for estimator in arguments.estimators:
            for route in arguments.routes:
                if route == "memory" and n > min(arguments.rows):
                    continue  # the reference is taken where it is cheap
                record = in_a_process_of_its_own(estimator, route, n, arguments.folder)
                with arguments.output.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
