"""Joint clustering against the plain autoencoder, and IDEC against ClustPy's.

    python benchmarks/peers.py                     USPS, 3 + 3 epochs, on the CPU
    python benchmarks/peers.py --data pendigits --epochs 5

All take the same rows, network (500, 500, 2000), batches of 256 and epochs, and run
alternately in one process; medians over repeats are given. Each is fitted with so many
epochs and with twice as many: the difference is what epochs take, without k-means and
what else is done once. Beside other work the CPU seconds tell more, best with
OMP_NUM_THREADS=1. ClustPy is left out, with a message, where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from measure import device_name

from scedae import datasets
from scedae.baselines import DCN, DKM, IDEC, AutoencoderKMeans
from scedae.metrics import evaluate

LOADERS = {
    "usps": datasets.load_usps,
    "pendigits": datasets.load_pendigits,
    "mnist": datasets.load_mnist,
}
HIDDEN = (500, 500, 2000)


def ours(estimator: type, epochs: int, device: str) -> Any:
    never_done = {"tol": 0} if estimator is IDEC else {}
    return estimator(
        10,
        pretrain_epochs=epochs,
        epochs=epochs,
        random_state=0,
        device=device,
        **never_done,
    )


def plain(epochs: int, device: str) -> Any:
    """The autoencoder alone for as many epochs, then k-means."""
    return AutoencoderKMeans(
        10,
        hidden_layers=HIDDEN,
        epochs=2 * epochs,
        learning_rate=1e-3,
        schedule="constant",
        random_state=0,
        device=device,
    )


def clustpy(epochs: int, device: str) -> Any:
    from clustpy.deep import IDEC as ClustPyIDEC

    return ClustPyIDEC(
        10,
        pretrain_epochs=epochs,
        clustering_epochs=epochs,
        embedding_size=10,
        device=torch.device(device),
        random_state=0,
    )


def cost(model: Any, X: np.ndarray) -> tuple[float, float]:
    """Seconds of a fit, by the clock and of the CPU."""
    start = time.perf_counter(), time.process_time()
    model.fit(X)
    return time.perf_counter() - start[0], time.process_time() - start[1]


def makers(epochs: int, device: str) -> dict[str, Callable[[int], Any]]:
    """Who takes part; each is made for a number of epochs."""
    found: dict[str, Callable[[int], Any]] = {"plain": lambda n: plain(n, device)}
    for estimator in (DCN, IDEC, DKM):
        found[estimator.__name__] = partial(ours, estimator, device=device)
    try:
        clustpy(epochs, device)
        found["ClustPy IDEC"] = partial(clustpy, device=device)
    except ImportError as error:
        print(f"ClustPy is left out: {error}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=LOADERS, default="usps")
    parser.add_argument("--epochs", type=int, default=3, help="of each phase")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    X, y = LOADERS[arguments.data]()
    X = (X / np.abs(X).max()).astype("float32")
    epochs, device = arguments.epochs, arguments.device
    taking_part = makers(epochs, device)
    costs: dict[tuple[str, int], list[tuple[float, float]]] = {}
    acc = {}
    for _ in range(arguments.repeats):
        for name, make in taking_part.items():
            for n in (epochs, 2 * epochs):
                model = make(n)
                costs.setdefault((name, n), []).append(cost(model, X))
                if n == epochs:
                    acc[name] = round(100 * evaluate(y, model.labels_)["acc"], 2)
    medians = {key: np.median(values, axis=0) for key, values in costs.items()}
    for name in taking_part:
        print(
            json.dumps(
                {
                    "method": name,
                    "data": arguments.data,
                    "rows": len(X),
                    "epochs": f"{epochs} + {epochs}",
                    **_compared(name, epochs, medians, "seconds", 0),
                    **_compared(name, epochs, medians, "cpu_seconds", 1),
                    "acc": acc[name],
                    "device": device_name(device),
                }
            )
        )


def _compared(
    name: str,
    epochs: int,
    medians: dict[tuple[str, int], np.ndarray],
    unit: str,
    column: int,
) -> dict[str, float]:
    """Of a fit and of an epoch, and how that is to the plain autoencoder's."""

    def fit(who: str) -> float:
        return float(medians[who, epochs][column])

    def epoch(who: str) -> float:
        return (float(medians[who, 2 * epochs][column]) - fit(who)) / (2 * epochs)

    return {
        unit: round(fit(name), 2),
        f"{unit}_over_plain": round(fit(name) / fit("plain"), 2),
        f"{unit}_an_epoch": round(epoch(name), 3),
        f"{unit}_an_epoch_over_plain": round(epoch(name) / epoch("plain"), 2),
    }


if __name__ == "__main__":
    main()
