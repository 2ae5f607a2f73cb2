"""Hostile input in bulk: every call ends in a sane answer or in a documented error.

``make fuzz`` runs all kinds with the counts below; ``--share 0.01`` a hundredth of
them; ``--only model-files`` one kind. The seed decides everything. Whatever is neither
a sane answer nor a documented error is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of a library in Rust is no Exception
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
ENOUGH_TO_SEE_BOTH = 50  # loads


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
    """Loads while another saves: one model or the other, never a mixture.

    A tenth beside a thread of this process, the others beside another process. Both
    models must be seen by each: else nothing was replaced meanwhile.
    """
    models = fuzz_files.two_models()
    path = folder / "beside"
    for number, model in enumerate(models):
        model.save(folder / f"model-{number}")
    by_thread = count // 10
    tally = _loads(_thread(models, path), by_thread, models, path)
    more = _loads(_process(folder, path), count - by_thread, models, path)
    tally.wrong += more.wrong
    tally.outcomes += more.outcomes
    return tally


def _loads(
    writer: AbstractContextManager[None], count: int, models: list, path: Path
) -> Tally:
    tally, seen = Tally(), set()
    models[0].save(path)
    with writer:
        for number in range(count):
            load = lambda: seen.add(fuzz_files.one_of(models, path))  # noqa: E731
            tally.judge(f"load {number}", load, ())
    if count >= ENOUGH_TO_SEE_BOTH and len(seen) < len(models):
        tally.wrong.append("the same model was loaded every time")
    return tally


@contextmanager
def _thread(models: list, path: Path) -> Iterator[None]:
    stop = threading.Event()

    def save() -> None:
        while not stop.is_set():
            for model in models:
                model.save(path)

    writer = threading.Thread(target=save)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


_SAVER = """
import itertools, sys, time
from scedae.baselines import DKM
*sources, path = sys.argv[1:]
models = [DKM.load(source) for source in sources]
models[1].save(path)
print("begun", flush=True)
for model in itertools.cycle(models):
    model.save(path)
    time.sleep(0.005)  # so that both get on, on one core too
"""


@contextmanager
def _process(folder: Path, path: Path) -> Iterator[None]:
    sources = sorted(folder.glob("model-*"))
    writer = subprocess.Popen(
        [sys.executable, "-c", _SAVER, *map(str, sources), str(path)],
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline(), "the writer did not begin"
        yield
        assert writer.poll() is None, "the writer has ended"
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[*KINDS, "beside"])
    parser.add_argument("--folder", help="for files, such as /dev/shm (no disk)")
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable()  # a damaged checkpoint is a word in the log
    wrong = 0
    for kind in [given.only] if given.only else [*KINDS, "beside"]:
        begun = time.perf_counter()
        count = BESIDE if kind == "beside" else KINDS[kind][0]
        count = max(int(count * given.share), 1)
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
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
