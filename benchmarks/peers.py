"""Joint clustering against the plain autoencoder, and IDEC against ClustPy's.

    python benchmarks/peers.py                     USPS, 3 + 3 epochs, on the CPU
    python benchmarks/peers.py --data pendigits --epochs 5

All take the same rows, network (500, 500, 2000), batches of 256 and epochs, and run
alternately in one process; the median over repeats is given. ClustPy is left out, with
a message, where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
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


def seconds(model: Any, X: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


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
    makers: dict[str, Any] = {
        "plain": plain,
        **{e.__name__: lambda n, d, e=e: ours(e, n, d) for e in (DCN, IDEC, DKM)},
    }
    try:
        clustpy(epochs, device)
        makers["ClustPy IDEC"] = clustpy
    except ImportError as error:
        print(f"ClustPy is left out: {error}")
    times: dict[str, list[float]] = {name: [] for name in makers}
    acc = {}
    for _ in range(arguments.repeats):
        for name, make in makers.items():
            model = make(epochs, device)
            times[name].append(seconds(model, X))
            acc[name] = round(100 * evaluate(y, model.labels_)["acc"], 2)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(
            json.dumps(
                {
                    "method": name,
                    "data": arguments.data,
                    "rows": len(X),
                    "epochs": f"{epochs} + {epochs}",
                    "seconds": round(median, 2),
                    "over_plain": round(median / medians["plain"], 2),
                    "idec_is_faster_by": round(median / medians["IDEC"], 2),
                    "acc": acc[name],
                    "device": device_name(device),
                }
            )
        )


if __name__ == "__main__":
    main()
