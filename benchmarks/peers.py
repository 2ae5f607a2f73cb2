"""Joint clustering against the plain autoencoder, and IDEC against ClustPy's.

    python benchmarks/peers.py                     USPS, 3 + 3 epochs, on the CPU
    python benchmarks/peers.py --data pendigits --epochs 5

All take the same rows, network (500, 500, 2000), batches of 256 and epochs, and run
alternately in one process; the least over repeats is given, since other work on the
machine can only add. Beside other work the CPU seconds tell more, best with
OMP_NUM_THREADS=1. An epoch of joint training is compared to an epoch of pretraining of
the same fits, which is one of the plain autoencoder; take --epochs 14 for that. ClustPy
is left out, with a message, where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from measure import device_name

from scedae import datasets
from scedae._progress import Progress
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


@contextmanager
def clocked_epochs() -> Iterator[dict[str, list[float]]]:
    """CPU seconds of every epoch by phase, read where the progress bar moves."""
    found: dict[str, list[float]] = {"pretraining": [], "clustering": []}
    before: list[Any] = ["", 0.0]

    def advance(self: Progress, share: float, detail: str) -> None:
        phase, now = detail.partition(",")[0], time.process_time()
        # The first epoch of a phase has k-means or the start of the fit in it.
        if phase in found and phase == before[0]:
            found[phase].append(now - before[1])
        before[:] = phase, now

    with patch.object(Progress, "advance", advance):
        yield found


@dataclass
class Costs:
    """What was seen of one method."""

    acc: float = 0.0
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    epochs: dict[str, list[float]] = field(default_factory=dict)

    def fit(self, model: Any, X: np.ndarray, y: np.ndarray) -> None:
        start = time.perf_counter(), time.process_time()
        with clocked_epochs() as epochs:
            model.fit(X)
        self.seconds.append(time.perf_counter() - start[0])
        self.cpu_seconds.append(time.process_time() - start[1])
        for phase, values in epochs.items():
            self.epochs.setdefault(phase, []).extend(values)
        self.acc = round(100 * evaluate(y, model.labels_)["acc"], 2)

    def row(self, plain: Costs) -> dict[str, float]:
        """Least seconds, and how they are to the plain autoencoder's."""
        found = {"acc": self.acc}
        for unit in ("seconds", "cpu_seconds"):
            own, other = min(getattr(self, unit)), min(getattr(plain, unit))
            found |= {unit: round(own, 2), f"{unit}_over_plain": round(own / other, 2)}
        if all(self.epochs.get(phase) for phase in ("pretraining", "clustering")):
            first, second = (min(values) for values in self.epochs.values())
            found["cpu_seconds_joint_epoch"] = round(second, 3)
            found["joint_epoch_over_pretraining"] = round(second / first, 2)
        return found


def makers(epochs: int, device: str) -> dict[str, Callable[[], Any]]:
    """Who takes part."""
    found: dict[str, Any] = {"plain": partial(plain, epochs, device)}
    for estimator in (DCN, IDEC, DKM):
        found[estimator.__name__] = partial(ours, estimator, epochs, device)
    try:
        clustpy(epochs, device)
        found["ClustPy IDEC"] = partial(clustpy, epochs, device)
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
    taking_part = makers(arguments.epochs, arguments.device)
    costs = {name: Costs() for name in taking_part}
    for _ in range(arguments.repeats):
        for name, make in taking_part.items():
            costs[name].fit(make(), X, y)
    setting = {
        "data": arguments.data,
        "rows": len(X),
        "epochs": f"{arguments.epochs} + {arguments.epochs}",
        "device": device_name(arguments.device),
    }
    for name, found in costs.items():
        print(json.dumps({"method": name, **found.row(costs["plain"]), **setting}))


if __name__ == "__main__":
    main()
