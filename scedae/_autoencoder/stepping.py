"""Walk through the rounds of a training: step by step, or by recorded steps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

import torch

from scedae._autoencoder.batches import Batch, Batches
from scedae._autoencoder.network import Encoder
from scedae._autoencoder.objective import CodeObjective

# Steps in one CUDA graph: enough to hide what a launch costs the host.
_STEPS_PER_GRAPH = 16
# Numbers the rows of one graph may have: 256 MB in float32.
_NUMBERS_PER_GRAPH = 1 << 26
# One slot is computed on while the other is filled.
_N_SLOTS = 2


class Learner(Protocol):
    """Networks that learn by steps on rows, which lie in slots."""

    def load(self, slot: int, batch: Batch) -> None: ...
    def run(self, slot: int, n_steps: int) -> None: ...
    def take_losses(self) -> torch.Tensor: ...
    def encoder(self, member: int) -> Encoder: ...
    def state(self) -> list[torch.Tensor]: ...


class Training(Learner, Protocol):
    """Autoencoders that train together, and may be given a further objective."""

    def pursue(self, objective: CodeObjective, rates: torch.Tensor) -> None: ...


def walk(
    training: Learner, batches: Batches, n_rounds: int, stop: threading.Event
) -> Iterator[int]:
    """Take every step as it comes; yields the number of each round when it is done.

    Ends early when ``stop`` is set.
    """
    for number in range(1, n_rounds + 1):
        batches.begin_round()
        for step in range(batches.steps_per_round):
            if stop.is_set():
                return
            training.load(0, batches.take(step, step + 1))
            training.run(0, 1)
        yield number


def _chunks(batches: Batches) -> list[tuple[int, int]]:
    """The steps of a round in pieces of one graph each."""
    n_numbers = batches.blank(1, torch.device("meta")).rows.numel()
    size = max(min(_STEPS_PER_GRAPH, _NUMBERS_PER_GRAPH // n_numbers), 1)
    firsts = range(0, batches.steps_per_round, size)
    return [(first, min(first + size, batches.steps_per_round)) for first in firsts]


@contextmanager
def _rehearsal(training: Learner) -> Iterator[None]:
    """Steps taken inside leave no trace."""
    before = [tensor.clone() for tensor in training.state()]
    yield
    for tensor, value in zip(training.state(), before, strict=True):
        tensor.copy_(value)


def _record(
    training: Learner, batches: Batches, sizes: set[int], device: torch.device
) -> dict[tuple[int, int], torch.cuda.CUDAGraph]:
    """Graphs of all slots and lengths. Kernels are compiled on the way, if need be."""
    graphs = {}
    # Ahead of any stream a training may open beside it.
    stream = torch.cuda.Stream(device, priority=-1)
    with _rehearsal(training):
        for slot in range(_N_SLOTS):
            training.load(slot, batches.blank(max(sizes), device))
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
        self, training: Learner, batches: Batches, device: torch.device
    ) -> None:
        self._training, self._batches = training, batches
        self._stream = torch.cuda.Stream(device)
        self._free: list[torch.cuda.Event | None] = [None] * _N_SLOTS

    @torch.no_grad()
    def fetch(self, slot: int, first: int, last: int) -> torch.cuda.Event:
        """Fill a slot; the event tells the GPU when it is full."""
        with torch.cuda.stream(self._stream):
            if first == 0:
                self._batches.begin_round()
            batch = self._batches.take(first, last)
            free = self._free[slot]
            if free is not None:
                self._stream.wait_event(free)
            self._training.load(slot, batch)
            return self._stream.record_event()

    def release(self, slot: int) -> None:
        """The steps launched so far were the last to read this slot."""
        self._free[slot] = torch.cuda.current_stream().record_event()


def replay(
    training: Learner, batches: Batches, n_rounds: int, device: torch.device
) -> Iterator[int]:
    """Record the steps once as CUDA graphs and replay them; yields as ``walk`` does.

    The networks are so small that launching their kernels one by one would take
    longer than running them. The host waits for the GPU only where the caller asks
    for losses, after a round.
    """
    chunks = _chunks(batches)
    graphs = _record(
        training, batches, {last - first for first, last in chunks}, device
    )
    loader = _Loader(training, batches, device)
    plan = [
        (number, first, last)
        for number in range(1, n_rounds + 1)
        for first, last in chunks
    ]
    with ThreadPoolExecutor(1, "scedae-rows") as pool:
        full = pool.submit(loader.fetch, 0, *plan[0][1:])
        for i, (number, first, last) in enumerate(plan):
            slot = i % _N_SLOTS
            torch.cuda.current_stream().wait_event(full.result())
            if i + 1 < len(plan):
                following = plan[i + 1][1:]
                full = pool.submit(loader.fetch, (i + 1) % _N_SLOTS, *following)
            graphs[slot, last - first].replay()
            loader.release(slot)
            if last == batches.steps_per_round:
                yield number
