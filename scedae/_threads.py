"""Threads of a fit: work is dealt out in pieces, and each piece has one thread.

Libraries that share every small product among threads make all of them wait for the
slowest, and spin while they wait: beside other work on the machine that costs many
times what it saves. So inside a fit torch and BLAS have one thread, and whole pieces
(a network to train, a member to anchor, a block of rows) are handed to workers that
never wait for each other. The exception is one large network alone: see
``autoencoder/training.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

import joblib
import torch
from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Found = TypeVar("Found")


class _TorchThreads:
    """The number of threads torch was told by its user, while any fit runs.

    Fits in several threads overlap: the first to come remembers, and each that leaves
    puts back what was remembered.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._n_threads = 1

    def enter(self) -> int:
        with self._lock:
            if self._n_inside == 0:
                self._n_threads = torch.get_num_threads()
            self._n_inside += 1
            torch.set_num_threads(1)
            return self._n_threads

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            torch.set_num_threads(self._n_threads)


class _BlasThreads:
    """The same for the BLAS of numpy and scipy, whose number is one for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limits: threadpool_limits

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


_torch_threads = _TorchThreads()
# A threaded BLAS would sum in another order for another number of threads.
one_blas_thread = _BlasThreads()


class _Here(threading.local):
    """The workers of the fit that runs in this thread; workers have none."""

    pool: ThreadPoolExecutor | None = None
    n_threads = 1
    inside = False


_here = _Here()


@contextmanager
def own_threads() -> Iterator[None]:
    """One thread for torch; workers for ``share_out``, as many as are allowed.

    Allowed is what ``torch.set_num_threads`` or OMP_NUM_THREADS say, but no more than
    the cores this process may use, by affinity or by the quota of its container.
    """
    if _here.inside:
        yield
        return
    allowed = min(_torch_threads.enter(), joblib.cpu_count())
    try:
        with _workers(allowed) as pool:
            _here.pool, _here.n_threads, _here.inside = pool, allowed, True
            yield
    finally:
        _here.pool, _here.n_threads, _here.inside = None, 1, False
        _torch_threads.leave()


@contextmanager
def _workers(n_threads: int) -> Iterator[ThreadPoolExecutor | None]:
    if n_threads == 1:
        yield None
        return
    pool = ThreadPoolExecutor(n_threads, "scedae")  # threads start when needed
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def threads_allowed() -> int:
    """How many threads the fit that runs here may use."""
    return _here.n_threads


@contextmanager
def several_threads(n_threads: int) -> Iterator[None]:
    """Torch shares its products among so many threads inside, here and in workers."""
    if n_threads == 1:
        yield
        return
    outer = _here.pool
    torch.set_num_threads(n_threads)
    try:
        # Fresh ones: a thread takes the number that holds when it starts.
        with _workers(_here.n_threads // n_threads) as _here.pool:
            yield
    finally:
        _here.pool = outer
        torch.set_num_threads(1)


def share_out(
    function: Callable[[Item], Found],
    items: Sequence[Item],
    on_error: Callable[[], None] = lambda: None,
) -> list[Found]:
    """``function`` of each item, by the workers of the fit; results in their order.

    Without workers, or inside one, the items take their turns here. The first error
    drops what has not begun, calls ``on_error`` for what has, and is raised.
    """
    pool = _here.pool
    if pool is None or len(items) < 2:
        return [function(item) for item in items]
    futures = [pool.submit(function, item) for item in items]
    try:
        for future in as_completed(futures):
            future.result()
    except BaseException:
        on_error()
        for future in futures:
            future.cancel()
        raise
    return [future.result() for future in futures]
