"""Threads of a fit: work is dealt out in pieces, and each piece has one thread.

Libraries that share every small operation among threads make all of them wait for the
slowest, and spin while they wait: beside other work on the machine that costs many
times what it saves. And how they share decides in which order they sum. So inside a
fit torch and BLAS have one thread, and whole pieces (a network to train, a member to
anchor, a block of rows, a part of a large product) go to helpers. A result is then the
same for any number of threads, since no sum is ever shared.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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


class _Here(threading.local):
    """The helpers of this thread; helpers have none of their own."""

    pool: ThreadPoolExecutor | None = None
    n_threads = 1  # with this one
    inside = False


_torch_threads = _TorchThreads()
one_blas_thread = _BlasThreads()
_here = _Here()


@contextmanager
def own_threads() -> Iterator[None]:
    """One thread for torch, and as many for ``share_out`` as are allowed.

    Allowed is what ``torch.set_num_threads`` or OMP_NUM_THREADS say, but no more than
    the cores this process may use, by affinity or by the quota of its container.
    """
    with one_thread() as allowed, helpers(min(allowed, joblib.cpu_count())):
        yield


@contextmanager
def one_thread() -> Iterator[int]:
    """One thread for torch; yields how many the user allows, or this thread has."""
    if _here.inside:
        yield _here.n_threads
        return
    allowed = _torch_threads.enter()
    _here.inside = True
    try:
        yield allowed
    finally:
        _here.inside = False
        _torch_threads.leave()


@contextmanager
def helpers(number: int) -> Iterator[None]:
    """So many threads, this one among them, for what is shared out inside.

    A thread that has helpers keeps those it has.
    """
    if number == 1 or _here.pool is not None:
        yield
        return
    # Each is told: a new thread may still share its products among all cores.
    _here.pool = ThreadPoolExecutor(
        number - 1, "scedae", torch.set_num_threads, initargs=(1,)
    )
    _here.n_threads = number
    try:
        yield
    finally:
        pool, _here.pool, _here.n_threads = _here.pool, None, 1
        pool.shutdown(cancel_futures=True)


def n_threads() -> int:
    """How many threads work on what this one shares out."""
    return _here.n_threads


def share_out(
    function: Callable[[Item], Found],
    items: Sequence[Item],
    on_error: Callable[[], None] = lambda: None,
) -> list[Found]:
    """``function`` of each item, by this thread and its helpers; results in order.

    Whoever is done takes the next item. After an error nobody does: ``on_error`` is
    called for those who are not done, and the error is raised.
    """
    pool, number = _here.pool, min(_here.n_threads, len(items))
    if pool is None or number < 2:
        return [function(item) for item in items]
    waiting = deque(enumerate(items))
    found: dict[int, Found] = {}

    def take() -> tuple[int, Item] | None:
        try:
            return waiting.popleft()
        except IndexError:
            return None

    @contextmanager
    def telling_the_others() -> Iterator[None]:
        try:
            yield
        except BaseException:
            waiting.clear()
            on_error()
            raise

    def work() -> None:
        with telling_the_others():
            while (taken := take()) is not None:
                i, item = taken
                found[i] = function(item)

    futures = [pool.submit(work) for _ in range(number - 1)]
    with _alone(), telling_the_others():  # Ctrl-C may come while this thread waits
        work()
        for future in futures:
            future.result()
    return [found[i] for i in range(len(items))]


@contextmanager
def _alone() -> Iterator[None]:
    """This thread has no helpers inside: they are at work already."""
    before = _here.pool, _here.n_threads
    _here.pool, _here.n_threads = None, 1
    try:
        yield
    finally:
        _here.pool, _here.n_threads = before
