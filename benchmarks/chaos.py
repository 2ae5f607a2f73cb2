"""Kill anything at random moments: nothing is half-written, and fits go on.

``make chaos`` kills 200 times with the counts below (``--share`` of them): a fit with
checkpoints, the command's fit and predict, ``reproduce``, Dask's workers and its
scheduler. The signal is SIGKILL, SIGTERM, SIGINT, or SIGSTOP followed by SIGKILL; the
seed decides it and the moment. After each the files that are there must be whole; an
undisturbed run must then give, bit for bit, what it would have given, and leave nothing
else behind.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from benchmarks.chaos_kills import (
    SIGNALS,
    Blow,
    Ended,
    Usual,
    Work,
    processor_time,
    run_apart,
)
from scedae import SCEDAE
from scedae._storage import checkpoint
from scedae._storage.archive import read_archive
from scedae._whole_file import leftovers
from scedae.cli import main as command_line
from scedae.cli.record import read_record
from scedae.experiments.plan import PaperRun
from scedae.experiments.store import Store
from tests.experiments import tiny

ROOT = Path(__file__).parents[1]
SETTINGS = {"hidden_layers": (32, 16), "n_members": 3, "epochs": 30, "encoding_dim": 3}
SETTINGS |= {"n_landmarks": 50, "random_state": 0}
QUICK = ["--epochs", "20", "--members", "3", "--seed", "0", "--quiet"]


class Series:
    """Many kills of one kind of work."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        self.name, self._rng = name, rng
        self.outcomes: Counter[str] = Counter()
        self.n_kills = 0
        self.wrong: list[str] = []

    def usual(self, work: Work, folder: Path) -> Usual:
        """An undisturbed run, which must succeed."""
        done = run_apart(work, folder)
        assert done.code == 0, done.said
        self.require(not done.left_processes, "a process is left")
        return done.usual

    def kill(
        self, work: Work, folder: Path, usual: Usual, anew: Callable[[], None]
    ) -> Ended:
        """Kill once; ``anew``, and again, if it was done before its moment came."""
        while True:
            blow = Blow.draw(self._rng, usual)
            done = run_apart(work, folder, blow)
            self.require(not done.left_processes, f"a process is left after {blow}")
            if done.was_hit:
                break
            self.outcomes["done before"] += 1
            anew()
        self.struck(blow.number)
        expected = {0, 1, -9, -blow.number, 128 + blow.number}
        self.require(done.code in expected, f"{blow}: {done.code}, {done.said}")
        return done

    def struck(self, number: int) -> None:
        self.n_kills += 1
        self.outcomes[signal.Signals(number).name] += 1

    def require(self, fact: bool, words: str) -> None:
        if not fact:
            self.wrong.append(words)

    def require_whole(self, folder: Path) -> None:
        for path in folder.rglob("*.scedae"):
            try:
                read_archive(path)
            except Exception as error:
                self.wrong.append(f"{path.name}: {error}")

    def show(self) -> int:
        wrong = f"{len(self.wrong)} wrong"
        print(self.name, self.n_kills, dict(self.outcomes), wrong, flush=True)
        for line in self.wrong[:10]:
            print("  WRONG", line[:2000], flush=True)
        return len(self.wrong)


def fits(count: int, rng: np.random.Generator, folder: Path) -> Series:
    """A fit with checkpoints; every third time it may go on to its end."""
    series, kept = Series("fit with checkpoints", rng), folder / "kept"

    def fit(place: str | None = "kept", name: str = "model.scedae") -> None:
        checkpoint._INTERVAL = 0.05
        model = SCEDAE(3, **SETTINGS, checkpoint_dir=place)
        model.fit(np.load("rows.npy")).save(name)

    series.usual(lambda: fit(None, "expected.scedae"), folder)
    expected = SCEDAE.load(folder / "expected.scedae")
    usual = series.usual(fit, folder)
    _empty(kept)
    for number in range(count):
        series.kill(fit, folder, usual, lambda: _empty(kept))
        series.require_whole(folder)
        if number % 3 == 2 or number == count - 1:
            series.usual(fit, folder)
            found = SCEDAE.load(folder / "model.scedae")
            same = (found.embedding_ == expected.embedding_).all()
            series.require(bool(same), "a resumed fit ends with other bits")
            for place in (kept, folder):
                series.require(not leftovers(place), f"left: {leftovers(place)}")
            _empty(kept)
            (folder / "model.scedae").unlink()
    return series


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def _command(*arguments: str) -> Work:
    def work() -> None:
        sys.argv = ["scedae", *arguments]
        command_line()

    return work


def _require_soft(series: Series, done: Ended) -> None:
    """What a command says when it is ended: one line at most, and the right code."""
    series.require("Traceback" not in done.said, f"traceback: {done.said}")
    series.require(done.code != 1, f"exit code 1: {done.said}")


def commands(count: int, rng: np.random.Generator, folder: Path) -> Series:
    """``scedae fit`` and ``predict`` over what former ones wrote."""
    series = Series("scedae fit and predict", rng)
    fit = ["fit", "rows.npy", "-k", "3", "-o", "run", "--force", *QUICK]
    predict = ["predict", "model", "rows.npy", "-o", "labels.csv", "--force"]
    series.usual(_command("fit", "rows.npy", "-k", "3", "-o", "model", *QUICK), folder)
    for first in (fit, predict):
        series.usual(_command(*first), folder)
    works = [_command(*predict), _command(*fit)]
    usual = [series.usual(work, folder) for work in works]
    labels = (folder / "labels.csv").read_bytes()
    model = (folder / "run" / "model.scedae").read_bytes()
    every = sorted(path.name for path in (folder / "run").iterdir())
    for number in range(count):
        work = works[number % 2]
        done = series.kill(work, folder, usual[number % 2], lambda: None)
        _require_soft(series, done)
        series.require_whole(folder)
        whole = (folder / "labels.csv").read_bytes() == labels
        series.require(whole, "labels are not whole")
        run = folder / "run"
        if not run.exists():  # killed between two renames: it comes back
            run = folder / ".run.former"
        read_record(run)
        files = sorted(path.name for path in run.iterdir())
        series.require(files == every, f"half a run: {files}")
        series.require((run / "model.scedae").read_bytes() == model, "another model")
    for work in works:
        series.usual(work, folder)
    hidden = [path.name for path in folder.glob(".*")]
    series.require(not hidden, f"left: {hidden}")
    return series


def imports(count: int, rng: np.random.Generator, folder: Path) -> Series:
    """The command as a shell starts it, killed anywhere from its first line on."""
    series = Series("scedae from its start", rng)
    command = [sys.executable, "-m", "scedae", "fit", "rows.npy", "-k", "3"]
    command += ["-o", "run", *QUICK]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(count):
        number = SIGNALS[int(rng.integers(3))]
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
        )
        _let_work(process, float(rng.uniform(0, 1.5)))
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
        series.struck(number)
        series.require("Traceback" not in said, f"traceback: {said}")
        codes = {-9} if number == signal.SIGKILL else {128 + number, -number}
        series.require(process.returncode in codes, f"{number}: {process.returncode}")
        series.require(not (folder / "run").exists(), "a run was written")
        soft = number != signal.SIGKILL
        series.require(not (soft and leftovers(folder)), "a temporary file is left")
    return series


def _let_work(process: subprocess.Popen, seconds: float) -> None:
    """So many seconds of a processor, from when numpy's library is there.

    What is before is Python's own start, and not ours: the command's handlers of
    signals are set when its imports begin.
    """
    maps = Path(f"/proc/{process.pid}/maps")
    while "numpy" not in maps.read_text():
        time.sleep(0.01)
    seconds += processor_time(process.pid)
    while processor_time(process.pid) < seconds and process.poll() is None:
        time.sleep(0.01)


def reproductions(count: int, rng: np.random.Generator, folder: Path) -> Series:
    """``scedae reproduce`` of a tiny world: whole records, none twice, same scores."""
    series = Series("scedae reproduce", rng)
    arguments = ["baselines", "landmarks", "--data", "usps", "--workers", "1"]

    def reproduce(out: str = "paper") -> None:
        tiny.set_up()
        _command("reproduce", *arguments, "-o", out)()

    series.usual(lambda: reproduce("alone"), folder)
    alone = _records(folder / "alone")
    usual = series.usual(reproduce, folder)
    _remove(folder / "paper")
    kept: dict[str, str] = {}

    def anew() -> None:
        _remove(folder / "paper")
        kept.clear()

    for number in range(count):
        done = series.kill(reproduce, folder, usual, anew)
        _require_soft(series, done)
        found = _records(folder / "paper")
        series.require(found.items() <= alone.items(), "a record of something else")
        lost = sorted(kept.keys() - found.keys())
        series.require(not lost, f"lost: {lost}")
        series.outcomes["records after kills"] += len(found)
        kept.update(found)
        if number % 3 == 2 or number == count - 1:
            series.usual(reproduce, folder)
            found = _records(folder / "paper")
            series.require(found == alone, "other records than of one run")
            lines = (folder / "paper" / "records").glob("*.jsonl")
            n_lines = sum(path.read_bytes().count(b"\n") for path in lines)
            series.require(n_lines == len(found), "a record was made twice")
            left = [p.name for p in (folder / "paper").rglob(".*.tmp")]
            series.require(not left, f"left: {left}")
            anew()
    return series


def _records(folder: Path) -> dict[str, str]:
    """Scores of each run that has a record."""
    found = Store(folder).records()
    return {PaperRun.of(each).key: json.dumps(each.get("scores")) for each in found}


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def workers(count: int, rng: np.random.Generator, folder: Path) -> Series:
    from benchmarks.chaos_dask import kill_workers

    return kill_workers(Series("Dask workers", rng), count, rng, folder)


def schedulers(count: int, rng: np.random.Generator, folder: Path) -> Series:
    from benchmarks.chaos_dask import kill_schedulers

    return kill_schedulers(Series("Dask scheduler", rng), count, rng, folder)


COUNTS: dict[Callable[[int, np.random.Generator, Path], Series], int] = {
    fits: 60,
    commands: 50,
    imports: 15,
    reproductions: 30,
    workers: 25,
    schedulers: 20,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[series.__name__ for series in COUNTS])
    given = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for module in ("app", "fitting", "predicting", "reproducing"):
        importlib.import_module(f"scedae.cli.{module}")
    # What is forked must not depend on threads of this process.
    assert threading.active_count() == 1
    wrong = 0
    for series, count in COUNTS.items():
        if given.only not in (None, series.__name__):
            continue
        begun = time.perf_counter()
        rng = np.random.default_rng(given.seed)
        folder = Path(
            tempfile.mkdtemp()
        )  # no TemporaryDirectory: forks would delete it
        try:
            rows = rng.standard_normal((300, 8))
            rows[::3, :2] += 5
            np.save(folder / "rows.npy", rows)
            wrong += series(max(int(count * given.share), 1), rng, folder).show()
        finally:
            shutil.rmtree(folder)
        print(f"  {time.perf_counter() - begun:.0f} s", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
