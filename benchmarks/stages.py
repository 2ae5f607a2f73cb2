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
import resource

import numpy as np
from measure import (
    Stopwatch,
    device_name,
    product_rate,
    resident_megabytes,
    training_flop,
)

from scedae import SCEDAE


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

    rate_before = product_rate()
    before = resident_megabytes()
    with Stopwatch() as watch:
        model = SCEDAE(
            10,
            n_members=arguments.members,
            hidden_layers=(500, 750, 1000),
            epochs=arguments.epochs,
            n_landmarks=arguments.landmarks,
            random_state=0,
            device="cpu",
        ).fit(X)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    rate = (rate_before + product_rate()) / 2

    floor = training_flop(model, arguments.columns) / rate
    ten_epochs = watch.training / arguments.epochs * 10
    print(
        json.dumps(
            {
                "rows": arguments.rows,
                "columns": arguments.columns,
                "members": arguments.members,
                "epochs": arguments.epochs,
                "seconds": {verb: round(s, 2) for verb, s in watch.stages.items()},
                "product_gflops": round(rate / 1e9, 1),
                "training_seconds": round(watch.training, 2),
                "training_over_floor": round(watch.training / floor, 2),
                "after_training_over_ten_epochs": round(
                    watch.after_training / ten_epochs, 3
                ),
                "input_megabytes": round(X.nbytes / 1e6),
                "peak_memory_over_input": round(
                    1 + (peak - before) * 1e6 / X.nbytes, 2
                ),
                "device": device_name("cpu"),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
