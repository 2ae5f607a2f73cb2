"""One GPU: the paper's MNIST ensembles, everything after training, the default recipe.

    python benchmarks/gpu.py                          all parts, MNIST
    python benchmarks/gpu.py --parts paper --precision tf32

Parts: ``paper`` trains the paper's structure ensemble (60,000 rows, 6 structures, 250
epochs, batch 256), ``thirty`` five seeds of each structure, ``default`` the default
recipe on 70,000 rows end to end, ``precision`` the default recipe in each precision,
``host`` with rows that stay on the host, ``tail`` the verbs after training on both
devices with the same encodings.

Two floors are given. ``arithmetic``: the products of all steps at the rate of a large
product in the same precision. ``memory``: what Adam must read and write each step
(weight and two moments, 24 bytes) at the rate of a plain copy. Both are measured in
the same run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from measure import (
    Stopwatch,
    device_name,
    n_steps,
    product_rate,
    timed,
    training_flop,
    weights_of,
)
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE, datasets
from scedae._autoencoder import PRECISIONS, TrainingOptions
from scedae._members import plan_members
from scedae._progress import Progress
from scedae._rows import MemoryRows, fit_scaler, gather_statistics
from scedae.internal import (
    CodeRows,
    Prepared,
    Scale,
    Tail,
    cluster_members,
    encode_members,
    one_blas_thread,
    own_threads,
)
from scedae.metrics import evaluate

PARTS = ("paper", "thirty", "default", "precision", "host", "tail")


def copy_rate() -> float:
    """Bytes a second, read and written, of a plain copy on the GPU."""
    source = torch.empty(1 << 28, device="cuda")
    target = torch.empty_like(source)
    target.copy_(source)
    return 8 * len(source) / timed(lambda: target.copy_(source), 10)


def fitted(
    model: SCEDAE, X: np.ndarray, y: np.ndarray
) -> tuple[SCEDAE, dict[str, Any]]:
    with Stopwatch() as watch:
        model.fit(X)
    trained = watch.training > 0
    return model, {
        "members": len(model.members_),
        "precision": model.precision,
        "seed": model.random_state,
        "seconds": round(watch.total, 2),
        "training_seconds": round(watch.training, 2),
        "after_training_seconds": round(watch.after_training, 2),
        "stages": {stage: round(s, 2) for stage, s in watch.stages.items()},
        "milliseconds_a_step": round(1e3 * watch.training / n_steps(model), 3)
        if trained
        else None,
        "acc": round(100 * evaluate(y, model.labels_)["acc"], 2),
    }


def paper(n_members: int, precision: str, epochs: int) -> dict[str, Any]:
    X, y = datasets.load_mnist("train")
    model = SCEDAE.paper(
        10,
        n_members=n_members,
        epochs=epochs,
        batch_size=256,  # as in all measurements so far; the preset has 32 now
        precision=precision,
        random_state=0,
        device="cuda",
    )
    model, record = fitted(model, X, y)
    d = X.shape[1]
    arithmetic = training_flop(model, d) / product_rate(8192, 10, "cuda", precision)
    memory = 24 * weights_of(model, d) * n_steps(model) / copy_rate()
    record["epochs"] = epochs
    record["arithmetic_floor_seconds"] = round(arithmetic, 2)
    record["memory_floor_seconds"] = round(memory, 2)
    record["over_both_floors"] = round(
        record["training_seconds"] / (arithmetic + memory), 2
    )
    return record


def default(precision: str, seed: int) -> dict[str, Any]:
    X, y = datasets.load_mnist()
    model = SCEDAE(10, precision=precision, random_state=seed, device="cuda")
    return fitted(model, X, y)[1]


def host(seed: int = 0) -> dict[str, Any]:
    """The same fit with no room for the rows on the GPU."""
    with mock.patch("scedae._rows.memory._GPU_SHARE", 0):
        return default("tf32", seed)


def tail() -> dict[str, Any]:
    """The verbs after training on GPU and CPU, with the same encodings."""
    X, y = datasets.load_mnist()
    gpu = torch.device("cuda", 0)
    rows = MemoryRows(X, gpu).brought()
    scaler = fit_scaler(gather_statistics(rows), "auto")
    specs = plan_members("structure", None, (500, 750, 1000), 30, 1000)
    options = TrainingOptions(10, 256, 2e-3, "one-cycle", scaler.bounded, "tf32")
    encoded = encode_members(Prepared(rows, scaler, specs, options, seed=0))
    moved = [replace(m, encoding=CodeRows(m.codes.cpu())) for m in encoded.members]
    on_cpu = replace(encoded, members=moved)
    record: dict[str, Any] = {}
    labels = []
    for name, members in (("gpu", encoded), ("cpu", on_cpu)):
        start = time.perf_counter()
        tail = Tail((Scale(3),), "diffusion")
        with own_threads(), one_blas_thread:
            result = cluster_members(members, scaler, 10, tail, 0, Progress())
        record[f"{name}_seconds"] = round(time.perf_counter() - start, 2)
        record[f"{name}_acc"] = round(100 * evaluate(y, result.labels)["acc"], 2)
        labels.append(result.labels)
    record["ari_between_them"] = round(adjusted_rand_score(*labels), 5)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--precision", nargs="+", choices=PRECISIONS, default=["tf32", "bfloat16"]
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=250, help="of the paper's parts")
    parser.add_argument("-o", "--output", type=Path, default=Path("gpu.jsonl"))
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)

    def records() -> Iterator[tuple[str, dict[str, Any]]]:
        for part in arguments.parts:
            if part in ("paper", "thirty"):
                n_members = 6 if part == "paper" else 30
                for precision in arguments.precision:
                    yield part, paper(n_members, precision, arguments.epochs)
            elif part == "default":
                yield from ((part, default("auto", seed)) for seed in seeds)
            elif part == "precision":
                runs = [(p, seed) for p in PRECISIONS for seed in seeds]
                yield from ((part, default(p, seed)) for p, seed in runs)
            else:
                yield part, host() if part == "host" else tail()

    for part, record in records():
        line = json.dumps({"part": part, **record, "device": device_name("cuda")})
        with arguments.output.open("a") as file:
            file.write(line + "\n")
        print(line, flush=True)


if __name__ == "__main__":
    main()
