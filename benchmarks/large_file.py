"""A file of up to a hundred million rows, fitted on one machine with a GPU.

    python benchmarks/large_file.py --device cuda --rows 1000000 10000000 100000000
    python benchmarks/large_file.py --device cpu --rows 1000000       a trial on a CPU
    python benchmarks/large_file.py --rows 10000000 --routes dask     by a Dask worker

Rows are the 10 overlapping clouds in 32 columns of ``out_of_core.py`` (float32; a
hundred million are 12.8 GB). All cores write them, a block each, into ``--folder``.
The fit gets the path; it has a process of its own, whose peak of resident memory is
told (the cache of the disk does not belong to it). A million rows are fitted from
memory as well, by as many steps, to hold the accuracy of the others against. The route
``dask`` has a cluster of one worker, a process that shares the GPU with nobody.

Six members of 48-72-96 and 200 landmarks, 8 epochs of 131,072 drawn rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

N_COLUMNS, N_CLUSTERS, NOISE = 32, 10, 1.5
BLOCK = 500_000
EPOCHS, ROWS_OF_AN_EPOCH = 8, 131_072
IN_MEMORY = 1_000_000


def clouds(n: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows ``start`` to ``start + n`` of the one endless table, and their clouds."""
    centres = np.random.default_rng(0).standard_normal((N_CLUSTERS, N_COLUMNS))
    draw = np.random.default_rng([1, start])
    y = draw.integers(N_CLUSTERS, size=n, dtype=np.int8)
    X = draw.standard_normal((n, N_COLUMNS), dtype=np.float32)
    X *= np.float32(NOISE)
    X += centres.astype(np.float32)[y]
    return X, y


def write_block(path: Path, n_rows: int, start: int) -> None:
    X, y = clouds(min(BLOCK, n_rows - start), start)
    for name, part in ((path, X), (classes_of(path), y)):
        array = np.lib.format.open_memmap(name, "r+")
        array[start : start + len(part)] = part


def classes_of(path: Path) -> Path:
    return path.with_suffix(".classes.npy")


def write_rows(path: Path, n_rows: int) -> None:
    """The rows and their clouds, by all cores."""
    np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, N_COLUMNS))
    np.lib.format.open_memmap(classes_of(path), "w+", np.int8, (n_rows,))
    starts = range(0, n_rows, BLOCK)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(write_block, path, n_rows), starts))


def accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Share of rows in the right cluster, under the best names; part by part."""
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros(N_CLUSTERS**2, np.int64)
    for start in range(0, len(y), 1 << 22):
        part = slice(start, start + (1 << 22))
        cells = y[part].astype(np.int64) * N_CLUSTERS + labels[part]
        counts += np.bincount(cells, minlength=len(counts))
    table = counts.reshape(N_CLUSTERS, N_CLUSTERS)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(y))


def read_block(path: Path, start: int) -> np.ndarray:
    return np.array(np.load(path, mmap_mode="r")[start : start + BLOCK])


def dask_rows(path: Path, n_rows: int) -> Any:
    """The rows as a Dask array; who needs a block of them reads it from the file."""
    import dask
    import dask.array as da

    read = dask.delayed(read_block)
    blocks = [
        da.from_delayed(
            read(path, start), (min(BLOCK, n_rows - start), N_COLUMNS), np.float32
        )
        for start in range(0, n_rows, BLOCK)
    ]
    return da.concatenate(blocks)


@contextmanager
def one_worker(route: str) -> Iterator[None]:
    """A cluster of one worker, where the route asks for it."""
    if route != "dask":
        yield
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=4, dashboard_address=":0") as here,
        Client(here) as client,
    ):
        client.wait_for_workers(1)
        yield


def measure(path: Path, route: str, device: str) -> dict[str, Any]:
    """Seconds by verb, peak memory and accuracy of one fit."""
    from measure import Stopwatch, device_name, peak_megabytes

    from scedae import SCEDAE

    X: Any = path
    n_rows = len(np.load(path, mmap_mode="r"))
    epochs = EPOCHS
    if route == "memory":
        X = np.load(path)
        epochs = max(round(EPOCHS * ROWS_OF_AN_EPOCH / n_rows), 1)
    elif route == "dask":
        X = dask_rows(path, n_rows)
    settings: dict[str, Any] = {
        "hidden_layers": (48, 72, 96),
        "n_landmarks": 200,
        "random_state": 0,
        "device": device,
    }
    # What a GPU compiles at first use is not the rows' fault.
    SCEDAE(N_CLUSTERS, epochs=1, **settings).fit(clouds(5000, 0)[0])
    with one_worker(route):
        with Stopwatch() as watch:
            fitted = SCEDAE(N_CLUSTERS, epochs=epochs, **settings).fit(X)
        labels = np.asarray(fitted.labels_)  # a worker may hold them
    record = {
        "route": route,
        "rows": n_rows,
        "seconds": round(watch.total, 1),
        "before_encode": round(watch.total - sum(watch.stages.values()), 1),
        "verbs": {verb: round(s, 1) for verb, s in watch.stages.items()},
        "label": round(watch.since("label"), 1),
        "training": round(watch.training, 1),
        "peak_megabytes": round(peak_megabytes()),
        "device": device_name(device),
    }
    y = np.load(classes_of(path), mmap_mode="r")
    return record | {"acc": round(100 * accuracy(y, labels), 2)}


def in_a_process_of_its_own(path: Path, route: str, device: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", str(path), "--route", route]
    command += ["--device", device]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000_000])
    parser.add_argument(
        "--routes", nargs="+", choices=("file", "dask"), default=["file"]
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--folder", type=Path, default=Path("out/large_file"))
    parser.add_argument("-o", "--output", type=Path, default=Path("large_file.jsonl"))
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--route", default="file", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        found = measure(arguments.one, arguments.route, arguments.device)
        print(json.dumps(found))
        return
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for n_rows in arguments.rows:
        path = arguments.folder / f"{n_rows}.npy"
        start = time.perf_counter()
        write_rows(path, n_rows)
        writing = round(time.perf_counter() - start, 1)
        compared = ["memory"] if n_rows == IN_MEMORY else []
        for route in compared + arguments.routes:
            load = round(os.getloadavg()[0], 1)
            record = in_a_process_of_its_own(path, route, arguments.device)
            record |= {"writing_seconds": writing, "load_before": load}
            with arguments.output.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
        path.unlink()
        classes_of(path).unlink()


if __name__ == "__main__":
    main()
