"""Peak memory of a fit on rows in memory, over the size of the rows.

    python benchmarks/memory.py                             MNIST, 70,000 x 784 float32
    python benchmarks/memory.py --rows 200000 --dtype uint8         drawn from MNIST
    python benchmarks/memory.py --effort default

Every fit has a process of its own. It imports everything and fits a few rows first;
what it holds then is not counted. Then the rows are brought in and fitted. The ratio
is the peak of resident memory from there to the labels, the rows included, over the
size of the rows. Each verb has a peak of its own, looked at every five milliseconds.
More rows than MNIST has are its rows again, with a little noise.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import threading
from typing import Any

import numpy as np
from measure import device_name, peak_megabytes, reset_peak, resident_megabytes

from scedae import SCEDAE
from scedae.datasets import load_mnist
from scedae.metrics import evaluate

_BLOCK = 10_000


class PeakByVerb(logging.Handler):
    """The most memory that was held during each verb, in megabytes."""

    def __init__(self) -> None:
        super().__init__()
        self.peaks: dict[str, float] = {}
        self._verb = "prepare"
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakByVerb:
        logger = logging.getLogger("scedae")
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._watcher.join()
        logging.getLogger("scedae").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._verb = record.getMessage().split()[0]

    def _watch(self) -> None:
        while not self._over.wait(0.005):
            verb, now = self._verb, resident_megabytes()
            self.peaks[verb] = max(self.peaks.get(verb, 0.0), now)


def bring(n_rows: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of MNIST in their own unit, and their digits; no second copy is left."""
    pixels, digits = load_mnist()
    top = 255 if np.issubdtype(np.dtype(dtype), np.integer) else 1
    X = np.empty((n_rows, pixels.shape[1]), dtype)
    generator = np.random.default_rng(0)
    highest = pixels.max()
    for start in range(0, n_rows, _BLOCK):
        part = X[start : start + _BLOCK]
        index = np.arange(start, start + len(part))
        block = pixels[index % len(pixels)] / highest
        if start >= len(pixels):
            block = block + generator.normal(0, 0.02, block.shape)
        part[:] = (block.clip(0, 1) * top).round(6 if top == 1 else 0)
    return X, digits[np.arange(n_rows) % len(digits)]


def measure(n_rows: int, dtype: str, effort: str, epochs: str) -> dict[str, Any]:
    warm = np.random.default_rng(0).random((500, 784), dtype=np.float32)
    SCEDAE(2, effort="fast", epochs=1, device="cpu").fit(warm)
    before = resident_megabytes()
    X, y = bring(n_rows, dtype)
    held = resident_megabytes() - before  # more than the rows: what bringing them left
    reset_peak()
    with PeakByVerb() as watch:
        model = SCEDAE(
            10,
            effort=effort,
            epochs=int(epochs) if epochs.isdigit() else epochs,
            random_state=0,
            device="cpu",
        ).fit(X)
    size = X.nbytes / 1e6
    return {
        "rows": n_rows,
        "columns": X.shape[1],
        "dtype": dtype,
        "effort": effort,
        "epochs": epochs,
        "input_megabytes": round(size),
        "held_before_fit": round(held),
        "peak_megabytes": round(peak_megabytes() - before),
        "peak_over_input": round((peak_megabytes() - before) / size, 2),
        "by_verb": {v: round(p - before) for v, p in watch.peaks.items()},
        "acc": round(100 * evaluate(y, model.labels_)["acc"], 2),
        "device": device_name("cpu"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=70_000)
    parser.add_argument("--dtype", choices=("float32", "uint8"), default="float32")
    parser.add_argument("--effort", choices=("fast", "default"), default="fast")
    parser.add_argument("--epochs", default="auto", help="1 is as good for memory")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        job = arguments.rows, arguments.dtype, arguments.effort, arguments.epochs
        print(json.dumps(measure(*job)))
        return
    command = [sys.executable, __file__, "--one", *sys.argv[1:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
