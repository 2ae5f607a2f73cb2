"""Predict and fit many times in one process: memory, files and threads do not grow.

``make soak``: 20,000 predictions, 500 fits, 200 predictions of a file that is read in
blocks, and 8 threads that predict while another fits.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from scedae import SCEDAE
from scedae._rows import stream

MOST_GROWTH_MB = 20
SETTINGS = {"hidden_layers": (8, 6), "n_members": 2, "epochs": 2, "n_landmarks": 20}
COUNTS = {"predictions": 20_000, "fits": 500, "streamed": 200, "threads": 200}


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def soak(name: str, once: Callable[[], object], count: int) -> int:
    """Call it so often; growth is counted from a tenth of the calls on."""
    warm = max(count // 10, 3)
    for _ in range(warm):
        once()
    gc.collect()
    before = resident_mb(), open_files(), threading.active_count()
    for _ in range(count - warm):
        once()
    gc.collect()
    after = resident_mb(), open_files(), threading.active_count()
    grown = after[0] - before[0]
    more = after[1] - before[1], after[2] - before[2]
    bad = grown > MOST_GROWTH_MB or max(more) > 0
    print(
        name, count, f"{grown:+.1f} MB, {more[0]:+d} files, {more[1]:+d} threads",
        "WRONG" if bad else "", flush=True,
    )  # fmt: skip
    return bad


def beside(model: SCEDAE, X: np.ndarray) -> None:
    """Eight threads predict while this one fits."""
    expected, wrong = model.predict(X), []

    def predict() -> None:
        for _ in range(3):
            if not (model.predict(X) == expected).all():
                wrong.append(1)

    threads = [threading.Thread(target=predict) for _ in range(8)]
    for thread in threads:
        thread.start()
    SCEDAE(3, **SETTINGS, random_state=1).fit(X)
    for thread in threads:
        thread.join()
    assert not wrong, "threads disagree"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    X = np.random.default_rng(0).standard_normal((200, 5))
    model = SCEDAE(3, **SETTINGS, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, X)

        def streamed() -> None:
            stream.DRAWN_ROWS = 64  # so that this file counts as a large one
            np.asarray(model.predict(path)).sum()

        kinds: dict[str, Callable[[], object]] = {
            "predictions": lambda: model.predict(X[:20]),
            "fits": lambda: SCEDAE(3, **SETTINGS, random_state=0).fit(X),
            "threads": lambda: beside(model, X),
            "streamed": streamed,
        }
        counts = {name: max(int(COUNTS[name] * given.share), 10) for name in kinds}
        wrong = sum(soak(name, once, counts[name]) for name, once in kinds.items())
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
