"""Cost: seconds of each verb, training over its arithmetic floor, peak memory.

    python benchmarks/stages.py                      60,000 x 784 random rows
    python benchmarks/stages.py --rows 10000 --members 6 --epochs 2

The floor is the arithmetic of training (2 FLOP for each weight, row and each of the
three products of a step) over the rate of a large float32 matrix product, measured
before and after the training in the same run. Memory is the input plus the growth of
the resident set from just before the fit to its peak, over the input.
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import resource
import time
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from scedae import SCEDAE, _ensemble
from scedae.autoencoder import layer_widths, train_runs

# What the verb "encode" spends on training, to be told apart from encoding.
training_seconds = 0.0


def timed_training(*arguments: Any, **named: Any) -> Any:
    """The pipeline's own training, with a stopwatch around it."""
    global training_seconds
    start = time.perf_counter()
    trained = train_runs(*arguments, **named)
    training_seconds += time.perf_counter() - start
    return trained


VERBS = ("encode", "anchor", "fuse", "embed", "assign")


class Stopwatch(logging.Handler):
    """Notes when each verb begins, from the messages of the fit itself."""

    def __init__(self) -> None:
        super().__init__()
        self.started: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.started[record.getMessage().split()[0]] = time.perf_counter()

    def seconds(self, end: float) -> dict[str, float]:
        times = [self.started[verb] for verb in VERBS] + [end]
        return {v: b - a for v, (a, b) in zip(VERBS, pairwise(times), strict=True)}


def product_rate(size: int = 2048, repeats: int = 12) -> float:
    """FLOP a second of a large float32 matrix product."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    a @ b
    start = time.perf_counter()
    for _ in range(repeats):
        a @ b
    return repeats * 2 * size**3 / (time.perf_counter() - start)


def training_flop(model: SCEDAE, n_columns: int) -> float:
    """Arithmetic of the training of all members."""
    flop = 0.0
    for report in model.members_:
        hidden = report.spec.hidden_layers
        widths = layer_widths(n_columns, hidden, model.encoding_dim)
        weights = sum(a * b for a, b in pairwise(widths))
        steps = len(model.labels_) // model.batch_size * report.spec.epochs
        flop += 3 * 2 * weights * steps * model.batch_size
    return flop


def resident_megabytes() -> float:
    """Resident memory of this process now."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--columns", type=int, default=784)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--landmarks", type=int, default=1000)
    arguments = parser.parse_args()

    generator = np.random.default_rng(0)
    centres = generator.random((10, arguments.columns), dtype=np.float32)
    X = centres[generator.integers(10, size=arguments.rows)]
    X += 0.3 * generator.random(X.shape, dtype=np.float32)
    X /= X.max()

    _ensemble.train_runs = timed_training
    stopwatch = Stopwatch()
    logger = logging.getLogger("scedae")
    logger.addHandler(stopwatch)
    logger.setLevel(logging.INFO)
    rate_before = product_rate()
    before = resident_megabytes()
    model = SCEDAE(
        10,
        n_members=arguments.members,
        hidden_layers=(500, 750, 1000),
        epochs=arguments.epochs,
        n_landmarks=arguments.landmarks,
        random_state=0,
        device="cpu",
    ).fit(X)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    rate = (rate_before + product_rate()) / 2

    seconds = stopwatch.seconds(end)
    device = f"{platform.machine()} CPU, {torch.get_num_threads()} threads"
    floor = training_flop(model, arguments.columns) / rate
    after = sum(seconds[verb] for verb in VERBS[1:])
    ten_epochs = training_seconds / arguments.epochs * 10
    print(
        json.dumps(
            {
                "rows": arguments.rows,
                "columns": arguments.columns,
                "members": arguments.members,
                "epochs": arguments.epochs,
                "seconds": {verb: round(s, 2) for verb, s in seconds.items()},
                "product_gflops": round(rate / 1e9, 1),
                "training_seconds": round(training_seconds, 2),
                "training_over_floor": round(training_seconds / floor, 2),
                "after_training_over_ten_epochs": round(after / ten_epochs, 3),
                "input_megabytes": round(X.nbytes / 1e6),
                "peak_memory_over_input": round(
                    1 + (peak - before) * 1e6 / X.nbytes, 2
                ),
                "device": device,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
