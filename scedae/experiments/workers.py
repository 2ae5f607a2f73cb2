"""Independent runs, shared by several processes of one thread each.

A clustering of kept encodings is many small steps: one process cannot keep a machine
busy with it, neither its cores nor its GPU.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any, Protocol

from scedae.experiments.store import Record

Task = Callable[..., Record]


class Workers(Protocol):
    """Somewhere to send runs."""

    def submit(self, task: Task, *arguments: Any) -> Future[Record]: ...

    def __enter__(self) -> Workers: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def start_workers(n_workers: int) -> Workers:
    return ProcessWorkers(n_workers) if n_workers > 1 else ThisProcess()


class ThisProcess:
    """One worker: every run at once and here."""

    def submit(self, task: Task, *arguments: Any) -> Future[Record]:
        future: Future[Record] = Future()
        future.set_result(task(*arguments))
        return future

    def __enter__(self) -> ThisProcess:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class ProcessWorkers:
    """Several processes, which end with this one whatever happens to it."""

    def __init__(self, n_workers: int) -> None:
        self._others = set(multiprocessing.active_children())
        # Spawned, since a process forked from one that uses a GPU cannot use it.
        self._pool = ProcessPoolExecutor(
            n_workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_prepare,
        )

    def submit(self, task: Task, *arguments: Any) -> Future[Record]:
        with _children_deaf_to_ctrl_c():  # it may start a process
            return self._pool.submit(task, *arguments)

    def __enter__(self) -> ProcessWorkers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            # Not to be waited for: a run may take minutes.
            for child in set(multiprocessing.active_children()) - self._others:
                child.kill()
        self._pool.shutdown(wait=kind is None, cancel_futures=True)


@contextmanager
def _children_deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started inside never see Ctrl-C, not even while they import.

    It goes to all processes of a terminal, and the first one decides. Held back here,
    it reaches this process right afterwards; a child inherits that it is held back.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # It would let signals through again where it has to be started first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """In each worker, first."""
    import torch
    from threadpoolctl import threadpool_limits

    # Where signals cannot be held back, from here on at least.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    threadpool_limits(1)


def _end_with_parent() -> None:
    """A parent that was killed cannot say so: its children would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
