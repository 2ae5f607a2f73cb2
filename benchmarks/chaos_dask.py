"""Kill Dask's workers, and its scheduler, while a fit runs on them.

Scheduler, workers and the process that fits are forks, one thread each. The moment is
the n-th time that the fit sends tasks, and a part of a second after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from distributed import Client, Scheduler, Worker

from benchmarks.chaos_kills import SIGNALS, Work, run_apart
from scedae import SCEDAE
from scedae._whole_file import leftovers
from scedae.exceptions import ClusterLostError

if TYPE_CHECKING:
    from benchmarks.chaos import Series

SETTINGS = {"hidden_layers": (16,), "n_members": 2, "epochs": 10, "n_landmarks": 30}
SETTINGS |= {"random_state": 0, "encoding_dim": 3}
LONGEST = 20  # seconds from the end of the scheduler to the error of the fit
_LATEST = 0.3  # seconds from the sending of tasks to a blow


def kill_workers(
    series: Series, count: int, rng: np.random.Generator, folder: Path
) -> Series:
    """The labels are those of a fit that nobody disturbed."""
    with Cluster(folder) as cluster:
        expected, n_sent = _undisturbed(series, cluster, folder)
        while series.n_kills < count:
            victim = cluster.workers[int(rng.integers(2))]
            blow = _Blow.draw(rng, n_sent, victim)
            found = _fit(series, cluster, folder, blow)
            if _count(series, found, blow):
                said = f"{blow}: {found.get('error')}"
                series.require(found.get("labels") == expected, said)
                series.require(not leftovers(folder), "a temporary file is left")
                cluster.replace(victim)
            _empty(folder / "kept")
    return series


def kill_schedulers(
    series: Series, count: int, rng: np.random.Generator, folder: Path
) -> Series:
    """One clear error, soon; what was trained is kept, and the next fit goes on."""
    kept, model = folder / "kept", folder / "model.scedae"
    with Cluster(folder) as cluster:
        expected, n_sent = _undisturbed(series, cluster, folder)
    while series.n_kills < count:
        _empty(kept)
        with Cluster(folder) as cluster:
            blow = _Blow.draw(rng, n_sent, cluster.scheduler)
            found = _fit(series, cluster, folder, blow)
        if not _count(series, found, blow):
            continue
        if "fitted" in found:  # the blow came when all was sent
            series.outcomes["of these, when the fit needed it no more"] += 1
        else:
            series.require(found.get("is_ours", False), f"{blow}: {found}")
            series.require(found["seconds"] < LONGEST, f"{blow}: {found['seconds']} s")
            series.require(not model.exists(), "a model of half a fit")
            series.require_whole(folder)
        with Cluster(folder) as cluster:
            again = _fit(series, cluster, folder)
        series.require(again.get("labels") == expected, f"then: {again.get('error')}")
        series.require(not leftovers(kept), f"left: {leftovers(kept)}")
    return series


class _Blow:
    """A signal to another process, after tasks were sent for the n-th time."""

    def __init__(self, number: int, sending: int, delay: float, victim: int) -> None:
        self.number, self.sending = number, sending
        self.delay, self.victim = delay, victim

    @classmethod
    def draw(cls, rng: np.random.Generator, n_sent: int, victim: int) -> _Blow:
        number = SIGNALS[int(rng.integers(len(SIGNALS)))]
        sending = int(rng.integers(1, n_sent + 1))
        return cls(number, sending, float(rng.uniform(0, _LATEST)), victim)

    def __repr__(self) -> str:
        name = signal.Signals(self.number).name
        return f"{name} {self.delay:.3f} s after sending {self.sending}"

    def fall(self) -> None:
        os.kill(self.victim, self.number)
        if self.number == signal.SIGSTOP:
            time.sleep(0.5)
            os.kill(self.victim, signal.SIGKILL)


class _Sendings:
    """Counts how often tasks are sent, and strikes."""

    def __init__(self, blow: _Blow | None) -> None:
        self.count, self.struck = 0, 0.0
        self._blow, self._send = blow, Client._graph_to_futures
        self.timer: threading.Timer | None = None

    def __enter__(self) -> _Sendings:
        def send(client: Client, *arguments: Any, **named: Any) -> Any:
            sent = self._send(client, *arguments, **named)
            self.count += 1
            if self._blow is not None and self.count == self._blow.sending:
                self.timer = threading.Timer(self._blow.delay, self._strike)
                self.timer.start()
            return sent

        Client._graph_to_futures = send
        return self

    def _strike(self) -> None:
        assert self._blow is not None
        self.struck = time.monotonic()
        self._blow.fall()

    def __exit__(self, *error: object) -> None:
        Client._graph_to_futures = self._send
        if self.timer is not None:
            self.timer.cancel()  # nothing, if it has begun to strike
            self.timer.join()


def _fit_and_tell(address: str, blow: _Blow | None) -> None:
    """In a process of its own: fit, save, and write down what came of it."""
    model = Path("model.scedae")
    model.unlink(missing_ok=True)
    found: dict[str, Any] = {}
    with Client(address, timeout=30) as client:
        X = da.from_array(np.load("rows.npy"), chunks=(60, -1))
        try:
            with _Sendings(blow) as sendings:
                fitted = SCEDAE(3, **SETTINGS, checkpoint_dir="kept").fit(X)
        except BaseException as error:
            found["error"] = f"{type(error).__name__}: {error}"
            found["is_ours"] = isinstance(error, ClusterLostError)
        else:
            found["fitted"] = True
        found["seconds"] = time.monotonic() - sendings.struck
        found["struck"], found["sent"] = sendings.struck > 0, sendings.count
        if "fitted" in found:
            # Lazy: whoever computes them after the fit is told of a loss by Dask.
            with suppress(CancelledError):
                found["labels"] = np.asarray(fitted.labels_).tolist()
                fitted.save(model)
        Path("found.json").write_text(json.dumps(found))
        client.close(timeout=2)


def _fit(
    series: Series, cluster: Cluster, folder: Path, blow: _Blow | None = None
) -> dict[str, Any]:
    (folder / "found.json").unlink(missing_ok=True)
    done = run_apart(lambda: _fit_and_tell(cluster.address, blow), folder)
    series.require(not done.left_processes, "a process is left")
    if not (folder / "found.json").exists():
        return {"error": done.said, "seconds": 0.0, "struck": True}
    return json.loads((folder / "found.json").read_text())


def _undisturbed(
    series: Series, cluster: Cluster, folder: Path
) -> tuple[list[int], int]:
    found = _fit(series, cluster, folder)
    assert "labels" in found, found
    _empty(folder / "kept")
    return found["labels"], found["sent"]


def _count(series: Series, found: dict[str, Any], blow: _Blow) -> bool:
    """Whether the blow fell before the fit was done."""
    if not found["struck"]:
        series.outcomes["done before"] += 1
        return False
    series.struck(blow.number)
    return True


def _empty(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Cluster:
        place = self._folder / "address"
        place.unlink(missing_ok=True)
        self.scheduler = _forked(lambda: asyncio.run(_schedule(place)))
        while not (place.exists() and place.read_text().endswith("\n")):
            time.sleep(0.01)
        self.address = place.read_text().strip()
        self.workers = [self._worker(), self._worker()]
        return self

    def _worker(self) -> int:
        return _forked(lambda: asyncio.run(_work(self.address)))

    def replace(self, victim: int) -> None:
        """Another worker for one that was struck."""
        deadline = time.monotonic() + 5
        while not _has_ended(victim):
            if time.monotonic() > deadline:
                os.kill(victim, signal.SIGKILL)
            time.sleep(0.02)
        self.workers[self.workers.index(victim)] = self._worker()

    def __exit__(self, *error: object) -> None:
        for pid in (*self.workers, self.scheduler):
            if not _has_ended(pid):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _forked(work: Work) -> int:
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        work()
    finally:
        os._exit(0)


async def _schedule(place: Path) -> None:
    async with Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler:
        place.write_text(f"{scheduler.address}\n")
        await scheduler.finished()


async def _work(address: str) -> None:
    async with Worker(address, nthreads=1, dashboard=False) as worker:
        await worker.finished()
