"""Kill anything at random moments: nothing is half-written, and fits go on.

``make chaos`` kills 200 times with the counts below (``--share`` of them): a fit with
checkpoints, the command's fit and predict, ``reproduce``, a Dask worker. The signal is
SIGKILL, SIGTERM, SIGINT, or SIGSTOP followed by SIGKILL. After each the files that
are there must be whole; at the end of each series an undisturbed run must give, bit
for bit, what it would have given, and leave nothing else behind.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from scedae import SCEDAE
from scedae._storage.archive import read_archive
from scedae._whole_file import leftovers

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)

FIT = """
import sys, numpy as np
from scedae import SCEDAE
from scedae._storage import checkpoint
checkpoint._INTERVAL = 0.2
model = SCEDAE(3, hidden_layers=(64, 32), n_members=3, epochs=60, encoding_dim=3,
               n_landmarks=50, random_state=0, checkpoint_dir=sys.argv[2] or None)
model.fit(np.load(sys.argv[1])).save(sys.argv[3])
"""
COMMAND = [sys.executable, "-m", "scedae"]
QUICK = ["--epochs", "40", "--members", "3", "--seed", "0", "--quiet"]


def kill_at(
    command: list[str], folder: Path, moment: float, number: int
) -> subprocess.CompletedProcess | None:
    """Run a command and send it a signal; None if it was done before."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        out, err = process.communicate(timeout=moment)
        return None
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        if number == signal.SIGSTOP:
            time.sleep(0.05)
            process.kill()
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def timed(command: list[str], folder: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begun


class Series:
    """Many kills of one command."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        self.name, self._rng = name, rng
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[str] = []

    def kill(self, command: list[str], folder: Path, seconds: float) -> None:
        number = SIGNALS[int(self._rng.integers(len(SIGNALS)))]
        done = kill_at(command, folder, float(self._rng.uniform(0, seconds)), number)
        if done is None:
            self.outcomes["done before"] += 1
            return
        self.outcomes[signal.Signals(number).name] += 1
        if number in (signal.SIGTERM, signal.SIGINT) and command[:3] == COMMAND:
            self.require("Traceback" not in done.stderr, f"traceback: {done.stderr}")
            soft = done.returncode in (128 + number, 0, -number)
            self.require(soft, f"{number}: exit code {done.returncode}")

    def require(self, fact: bool, words: str) -> None:
        if not fact:
            self.wrong.append(words)

    def show(self) -> int:
        print(self.name, dict(self.outcomes), f"{len(self.wrong)} wrong", flush=True)
        for line in self.wrong[:10]:
            print("  WRONG", line[:400], flush=True)
        return len(self.wrong)


def whole(folder: Path) -> list[str]:
    """Files under their final names that cannot be read."""
    bad = []
    for path in folder.rglob("*.scedae"):
        try:
            read_archive(path)
        except Exception as error:
            bad.append(f"{path.name}: {error}")
    return bad


def fits(count: int, rng: np.random.Generator, folder: Path) -> Series:
    series, kept = Series("fit with checkpoints", rng), folder / "kept"
    script = [sys.executable, "-c", FIT, "rows.npy"]
    seconds = timed([*script, "", "expected.scedae"], folder)
    expected = SCEDAE.load(folder / "expected.scedae")
    for number in range(count):
        series.kill([*script, "kept", "model.scedae"], folder, seconds)
        for bad in whole(folder):
            series.require(False, bad)
        if number % 5 == 4 or number == count - 1:
            subprocess.run([*script, "kept", "model.scedae"], cwd=folder, check=True)
            found = SCEDAE.load(folder / "model.scedae")
            same = (found.embedding_ == expected.embedding_).all()
            series.require(bool(same), "a resumed fit ends with other bits")
            series.require(not leftovers(kept), f"left: {leftovers(kept)}")
            series.require(not leftovers(folder), f"left: {leftovers(folder)}")
            for path in (*kept.iterdir(), folder / "model.scedae"):
                path.unlink()
    return series


def commands(count: int, rng: np.random.Generator, folder: Path) -> Series:
    series = Series("scedae fit and predict", rng)
    fit = [*COMMAND, "fit", "rows.npy", "-k", "3", "-o", "run", "--force", *QUICK]
    predict = [*COMMAND, "predict", "model", "rows.npy", "-o", "labels.csv", "--force"]
    first = [*COMMAND, "fit", "rows.npy", "-k", "3", "-o", "model", *QUICK]
    subprocess.run(first, cwd=folder, check=True, capture_output=True)
    seconds = {"fit": timed(fit, folder), "predict": timed(predict, folder)}
    n_files, labels = 4, (folder / "labels.csv").read_bytes()
    for number in range(count):
        name, command = ("fit", fit) if number % 2 else ("predict", predict)
        series.kill(command, folder, seconds[name])
        for bad in whole(folder):
            series.require(False, bad)
        series.require(
            (folder / "labels.csv").read_bytes() == labels, "labels are not whole"
        )
        run = folder / "run"
        if not run.exists():  # killed between two renames: it comes back
            run = folder / ".run.former"
        series.require(len(list(run.iterdir())) == n_files, "half a run")
    for command in (fit, predict):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    hidden = [path.name for path in folder.glob(".*")]
    series.require(not hidden, f"left: {hidden}")
    return series


def reproductions(count: int, rng: np.random.Generator, folder: Path) -> Series:
    """Records of the small suite: whole lines, and no run twice."""
    from scedae.experiments.store import Store

    series = Series("scedae reproduce", rng)
    command = [*COMMAND, "reproduce", "fcps", "--small", "--out", "paper"]
    if subprocess.run(command, cwd=folder, capture_output=True).returncode:
        series.outcomes["not run: no such suite here"] = count
        return series
    for _ in range(count):
        series.kill(command, folder, 20.0)
        records = list(Store(folder / "paper").records())
        series.require(all("experiment" in record for record in records), "a record")
    return series


def workers(count: int, rng: np.random.Generator, folder: Path) -> Series:
    """Dask workers are killed while a fit runs on them; the labels are the same."""
    import dask.array as da
    from distributed import Client, LocalCluster

    series = Series("Dask workers", rng)
    X = np.load(folder / "rows.npy")
    settings = {"hidden_layers": (32,), "n_members": 2, "epochs": 20, "random_state": 0}
    with (
        LocalCluster(
            2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        rows = da.from_array(X, chunks=(200, -1))
        begun = time.perf_counter()
        expected = np.asarray(SCEDAE(3, **settings).fit(rows).labels_)
        seconds = time.perf_counter() - begun
        for _ in range(count):
            worker = list(cluster.workers.values())[int(rng.integers(2))]
            victim = worker.process.pid
            killer = subprocess.Popen(
                ["sh", "-c", f"sleep {rng.uniform(0, seconds):.2f}; kill -9 {victim}"]
            )
            found = np.asarray(SCEDAE(3, **settings).fit(rows).labels_)
            killer.wait()
            series.outcomes["SIGKILL"] += 1
            series.require(bool((found == expected).all()), "other labels")
    return series


COUNTS = {fits: 80, commands: 80, reproductions: 20, workers: 20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[series.__name__ for series in COUNTS])
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    wrong = 0
    for series, count in COUNTS.items():
        if given.only not in (None, series.__name__):
            continue
        rng = np.random.default_rng(given.seed)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows = rng.standard_normal((1000, 8))
            rows[::3, :2] += 5
            np.save(folder / "rows.npy", rows)
            wrong += series(max(int(count * given.share), 1), rng, folder).show()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
