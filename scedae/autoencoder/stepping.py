"""Walk through the epochs of a training: step by step, or by recorded steps."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Protocol

import torch

from scedae.autoencoder.batches import Batches
from scedae.autoencoder.network import Encoder

# Steps in one CUDA graph: enough to hide what a launch costs the host.
_STEPS_PER_GRAPH = 16
# Numbers the rows of one graph may have: 256 MB in float32.
_NUMBERS_PER_GRAPH = 1 << 26
# One slot is computed on while the other is filled.
_N_SLOTS = 2


class Training(Protocol):
    """Runs that train together; steps work on rows that lie in slots."""

    def load(self, slot: int, rows: torch.Tensor) -> None: ...
    def run(self, slot: int, n_steps: int) -> None: ...
    def take_losses(self) -> torch.Tensor: ...
    def encoder(self, member: int) -> Encoder: ...
    def rehearsal(self) -> AbstractContextManager[None]: ...


def walk(
    training: Training, batches: Batches, n_epochs: int, stop: threading.Event
) -> Iterator[int]:
    """Take every step as it comes; yields the number of each epoch when it is done.

    Ends early when ``stop`` is set.
    """
    for epoch in range(1, n_epochs + 1):
        batches.begin_epoch()
        for step in range(batches.steps_per_epoch):
            if stop.is_set():
                return
            training.load(0, batches.rows(step, step + 1))
            training.run(0, 1)
        yield epoch


def _chunks(batches: Batches) -> list[tuple[int, int]]:
    """The steps of an epoch in pieces of one graph each."""
    size = max(min(_STEPS_PER_GRAPH, _NUMBERS_PER_GRAPH // math.prod(batches.shape)), 1)
    firsts = range(0, batches.steps_per_epoch, size)
    return [(first, min(first + size, batches.steps_per_epoch)) for first in firsts]


def _record(
    training: Training, batches: Batches, sizes: set[int], device: torch.device
) -> dict[tuple[int, int], torch.cuda.CUDAGraph]:
    """Graphs of all slots and lengths. Kernels are compiled on the way, if need be."""
    graphs = {}
    # Ahead of any stream a training may open beside it.
    stream = torch.cuda.Stream(device, priority=-1)
    with training.rehearsal():
        for slot in range(_N_SLOTS):
            training.load(slot, torch.zeros(max(sizes), *batches.shape, device=device))
            training.run(slot, 1)
        torch.cuda.synchronize()
        for slot in range(_N_SLOTS):
            for size in sizes:
                graphs[slot, size] = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graphs[slot, size], stream=stream):
                    training.run(slot, size)
        torch.cuda.synchronize()
    return graphs


class _Loader:
    """Brings the rows of coming steps into a slot, on a stream and thread of its own.

    So rows that lie on the host are gathered and travel while the GPU computes.
    """

    def __init__(
        self, training: Training, batches: Batches, device: torch.device
    ) -> None:
        self._training, self._batches = training, batches
        self._stream = torch.cuda.Stream(device)
        self._free: list[torch.cuda.Event | None] = [None] * _N_SLOTS

    @torch.no_grad()
    def fetch(self, slot: int, first: int, last: int) -> torch.cuda.Event:
        """Fill a slot; the event tells the GPU when it is full."""
        with torch.cuda.stream(self._stream):
            if first == 0:
                self._batches.begin_epoch()
            rows = self._batches.rows(first, last)
            free = self._free[slot]
            if free is not None:
                self._stream.wait_event(free)
            self._training.load(slot, rows)
            return self._stream.record_event()

    def release(self, slot: int) -> None:
        """The steps launched so far were the last to read this slot."""
        self._free[slot] = torch.cuda.current_stream().record_event()


def replay(
    training: Training, batches: Batches, n_epochs: int, device: torch.device
) -> Iterator[int]:
    """Record the steps once as CUDA graphs and replay them; yields as ``walk`` does.

    The networks are so small that launching their kernels one by one would take
    longer than running them. The host waits for the GPU only where the caller asks
    for losses, after an epoch.
    """
    chunks = _chunks(batches)
    graphs = _record(
        training, batches, {last - first for first, last in chunks}, device
    )
    loader = _Loader(training, batches, device)
    plan = [
        (epoch, first, last)
        for epoch in range(1, n_epochs + 1)
        for first, last in chunks
    ]
    with ThreadPoolExecutor(1, "scedae-rows") as pool:
        full = pool.submit(loader.fetch, 0, *plan[0][1:])
        for number, (epoch, first, last) in enumerate(plan):
            slot = number % _N_SLOTS
            torch.cuda.current_stream().wait_event(full.result())
            if number + 1 < len(plan):
                following = plan[number + 1][1:]
                full = pool.submit(loader.fetch, (number + 1) % _N_SLOTS, *following)
            graphs[slot, last - first].replay()
            loader.release(slot)
            if last == batches.steps_per_epoch:
                yield epoch
