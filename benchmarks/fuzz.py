"""Hostile input in bulk: every call ends in a sane answer or in a documented error.

``make fuzz`` runs all kinds with the counts below; ``--share 0.01`` a hundredth of
them; ``--only model-files`` one kind. The seed decides everything. Whatever is neither
a sane answer nor a documented error is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from benchmarks import fuzz_arguments, fuzz_files

Case = Callable[[], object]


@dataclass
class Tally:
    """What came of the cases of one kind."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def judge(self, name: str, case: Case, documented: tuple[type, ...]) -> None:
        try:
            case()
        except documented as error:
            self.outcomes[type(error).__name__] += 1
            if not str(error):
                self.wrong.append(f"{name}: {type(error).__name__} without a word")
        except Exception as error:
            self.outcomes["WRONG"] += 1
            self.wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        else:
            self.outcomes["answer"] += 1


# Count, cases, and the errors that are documented for them.
KINDS = {
    "arguments": (10_000, fuzz_arguments.calls, fuzz_arguments.DOCUMENTED),
    "dask": (500, fuzz_arguments.collections, fuzz_arguments.DOCUMENTED),
    "model-files": (20_000, fuzz_files.model_files, fuzz_files.DOCUMENTED),
    "checkpoints": (2_000, fuzz_files.checkpoints, ()),
    "records": (2_000, fuzz_files.records, fuzz_files.DOCUMENTED),
    "command-lines": (2_000, fuzz_files.command_lines, ()),
}
BESIDE = 100_000


def fuzz(kind: str, count: int, seed: int, folder: Path) -> Tally:
    """So many cases of one kind."""
    _, make, documented = KINDS[kind]
    tally = Tally()
    cases: Iterator[tuple[str, Case]] = make(np.random.default_rng(seed), folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, (name, case) in zip(range(count), cases, strict=False):
            tally.judge(name, case, documented)
    return tally


def beside(count: int, folder: Path) -> Tally:
    """Loads while another thread saves: one model or the other, never a mixture."""
    tally, stop = Tally(), threading.Event()
    models = fuzz_files.two_models()
    path = folder / "beside"
    models[0].save(path)

    def save() -> None:
        while not stop.is_set():
            for model in models:
                model.save(path)

    writer = threading.Thread(target=save)
    writer.start()
    try:
        for number in range(count):
            load = lambda: fuzz_files.one_of(models, path)  # noqa: E731
            tally.judge(f"load {number}", load, ())
    finally:
        stop.set()
        writer.join()
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[*KINDS, "beside"])
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable()  # a damaged checkpoint is a word in the log
    wrong = 0
    for kind in [given.only] if given.only else [*KINDS, "beside"]:
        begun = time.perf_counter()
        count = BESIDE if kind == "beside" else KINDS[kind][0]
        count = max(int(count * given.share), 1)
        with tempfile.TemporaryDirectory() as folder:
            if kind == "beside":
                tally = beside(count, Path(folder))
            else:
                tally = fuzz(kind, count, given.seed, Path(folder))
        seconds = time.perf_counter() - begun
        print(kind, count, json.dumps(tally.outcomes), f"{seconds:.0f} s", flush=True)
        for line in tally.wrong[:20]:
            print("  WRONG", line, flush=True)
        wrong += len(tally.wrong)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
