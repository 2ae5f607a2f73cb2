"""Train autoencoders: one step, one epoch, one loop, for a whole stack at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch

from scedae.autoencoder.network import AutoencoderStack, Encoder, layer_widths

SCHEDULES = ("one-cycle", "constant")

# Networks up to this width are limited by the hand-over between operations, not by
# arithmetic: they gain from being padded into one stack even on a CPU.
_SMALL_WIDTH = 256

# Steps in one CUDA graph: enough to hide what a launch costs the host.
_STEPS_PER_GRAPH = 16


class RowSource(Protocol):
    """Rows ready for the network; ``take`` wants its index on ``device``."""

    n_rows: int
    n_columns: int
    device: torch.device

    def take(self, index: torch.Tensor) -> torch.Tensor: ...


@dataclass(frozen=True)
class TrainingRun:
    """One training: a structure, its seed, and the epochs at which to keep it."""

    hidden_layers: tuple[int, ...]
    seed: int
    snapshots: tuple[int, ...]  # ascending; the last one ends the training

    @property
    def epochs(self) -> int:
        return self.snapshots[-1]

    @property
    def is_kept_on_the_way(self) -> bool:
        """Whether there are snapshots before the end.

        Such a training has a constant rate: half a cycle is not a training.
        """
        return len(self.snapshots) > 1


@dataclass(frozen=True)
class TrainingOptions:
    """What all runs of an ensemble have in common."""

    encoding_dim: int
    batch_size: int
    learning_rate: float
    schedule: str
    bounded: bool


@dataclass(frozen=True)
class TrainedRun:
    """Encoders by the epoch they were kept at, and the loss of every epoch."""

    encoders: dict[int, Encoder]
    history: list[dict[str, float]]


# Called after each epoch with the numbers of the runs and their losses.
EpochHook = Callable[[Sequence[int], int, list[float]], None]


def learning_rates(rate: float, schedule: str, n_steps: int) -> torch.Tensor:
    """The rate of every step.

    One cycle rises linearly over the first quarter and falls to zero along a cosine:
    it reaches the same codes in a fraction of the steps of a constant rate.
    """
    if schedule == "constant":
        return torch.full((n_steps,), rate)
    step = torch.arange(n_steps, dtype=torch.float64)
    rise = max(n_steps // 4, 1)
    fall = (1 + torch.cos(math.pi * (step - rise) / max(n_steps - rise, 1))) / 2
    shape = torch.where(step < rise, (step + 1) / rise, fall)
    return (rate * shape).float()


class StackTraining:
    """The training of one stack of runs: its weights, its optimizer, its row orders.

    Position and learning rate are read from tensors, not from Python numbers, so that
    a recorded step means the next step each time it is replayed.
    """

    def __init__(
        self,
        source: RowSource,
        runs: Sequence[TrainingRun],
        options: TrainingOptions,
        device: torch.device,
    ) -> None:
        self._source = source
        self._device = device
        # Weights and row orders are drawn on the CPU, from the run's own generator.
        self._generators = [torch.Generator().manual_seed(run.seed) for run in runs]
        *widths, padded = [
            layer_widths(source.n_columns, hidden, options.encoding_dim)
            for hidden in (*(run.hidden_layers for run in runs), padding(runs[0]))
        ]
        self.stack = AutoencoderStack(
            widths, padded, self._generators, device, bounded=options.bounded
        )
        self._batch_size = min(options.batch_size, source.n_rows)
        self.steps_per_epoch = source.n_rows // self._batch_size
        n_steps = self.steps_per_epoch * runs[0].epochs
        constant = runs[0].is_kept_on_the_way
        schedule = "constant" if constant else options.schedule
        rates = learning_rates(options.learning_rate, schedule, n_steps)
        self._rates = rates.to(device)
        self._rate = torch.zeros((), device=device)
        self._loss = torch.zeros(len(runs), device=device)
        self._n_done = torch.zeros(1, dtype=torch.long, device=device)
        self._position = torch.zeros(1, dtype=torch.long, device=source.device)
        self._orders = self._draw_orders()

        parameter = torch.nn.Parameter(self.stack.flat)
        parameter.grad = self.stack.flat_gradient
        self._optimizer = torch.optim.Adam(
            [parameter], lr=self._rate, fused=True, capturable=device.type == "cuda"
        )

    def _draw_orders(self) -> torch.Tensor:
        """Row numbers of an epoch's batches, of shape (steps, members * batch).

        Each member has its own order. A last batch that would be short is left out:
        another order leaves out other rows in the next epoch.
        """
        n_used = self.steps_per_epoch * self._batch_size
        orders = [
            torch.randperm(self._source.n_rows, generator=generator)[:n_used]
            for generator in self._generators
        ]
        batches = torch.stack(orders).view(len(orders), self.steps_per_epoch, -1)
        return batches.transpose(0, 1).flatten(1).to(self._source.device)

    def begin_epoch(self) -> None:
        self._orders.copy_(self._draw_orders())
        self._position.zero_()
        self._loss.zero_()

    def step(self) -> None:
        """Fetch, forward, backward, update; nothing here waits for a GPU."""
        stack = self.stack
        index = self._orders.index_select(0, self._position)[0]
        batch = self._source.take(index).to(self._device)
        batch = batch.view(stack.n_members, self._batch_size, -1)
        activations = stack.forward(batch)
        loss, delta = stack.reconstruction_loss(activations[-1], batch)
        stack.backward(activations, delta)
        self._rate.copy_(self._rates.index_select(0, self._n_done)[0])
        self._optimizer.step()
        self._loss += loss
        self._position += 1
        self._n_done += 1

    def mean_losses(self) -> list[float]:
        """Mean loss of each member in this epoch; waits for a GPU."""
        return (self._loss / self.steps_per_epoch).tolist()

    def can_be_recorded(self) -> bool:
        """Whether the rows lie on the GPU too, so that a step never leaves it."""
        return self._device.type == "cuda" and self._source.device == self._device

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Steps taken inside leave no trace in weights, moments or counters."""
        before = self.stack.flat.clone()
        yield
        self.stack.flat.copy_(before)
        for state in self._optimizer.state.values():
            for value in state.values():
                value.zero_()
        self._loss.zero_()
        self._position.zero_()
        self._n_done.zero_()


Advance = Callable[[int], None]


def eager_steps(trainings: Sequence[StackTraining]) -> Advance:
    """Take steps one by one, as Python comes to them."""

    def advance(n_steps: int) -> None:
        for _ in range(n_steps):
            for training in trainings:
                training.step()

    return advance


def recorded_steps(trainings: Sequence[StackTraining]) -> Advance:
    """Record steps of all stacks as CUDA graphs, side by side, and replay them.

    The networks are so small that launching their kernels one by one takes longer
    than running them, and that one of them alone leaves most of the GPU idle: each
    stack gets a stream of its own inside the graph.
    """
    streams = [torch.cuda.Stream() for _ in trainings]

    def side_by_side(n_steps: int) -> None:
        main = torch.cuda.current_stream()
        for training, stream in zip(trainings, streams, strict=True):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                for _ in range(n_steps):
                    training.step()
        for stream in streams:
            main.wait_stream(stream)

    def record(n_steps: int) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            side_by_side(n_steps)
        return graph

    with ExitStack() as rehearsals:
        for training in trainings:
            rehearsals.enter_context(training.rehearsal())
        warm_up = torch.cuda.Stream()
        with torch.cuda.stream(warm_up):
            side_by_side(1)
        torch.cuda.synchronize()
        many, one = record(_STEPS_PER_GRAPH), record(1)
        torch.cuda.synchronize()

    def advance(n_steps: int) -> None:
        for _ in range(n_steps // _STEPS_PER_GRAPH):
            many.replay()
        for _ in range(n_steps % _STEPS_PER_GRAPH):
            one.replay()

    return advance


def padding(run: TrainingRun) -> tuple[int, ...]:
    """Hidden widths a run is padded to: those of all orders of its own, if small.

    They depend on the run alone: in any company its weights are the same.
    """
    widest = max(run.hidden_layers)
    if widest > _SMALL_WIDTH:
        return run.hidden_layers
    return (widest,) * len(run.hidden_layers)


def plan_stacks(runs: Sequence[TrainingRun], device: torch.device) -> list[list[int]]:
    """Which runs train as one stack, by number.

    Runs of one length, one padded structure and one schedule share a stack. Large
    ones do so only on a GPU, and stay alone on a CPU, where a single one keeps every
    core busy.
    """
    stacks: dict[object, list[int]] = {}
    for number, run in enumerate(runs):
        small = max(run.hidden_layers) <= _SMALL_WIDTH
        alone = None if small or device.type == "cuda" else number
        key = (run.epochs, run.is_kept_on_the_way, padding(run), alone)
        stacks.setdefault(key, []).append(number)
    return list(stacks.values())


def plan_groups(
    stacks: Sequence[Sequence[int]],
    runs: Sequence[TrainingRun],
    device: torch.device,
) -> list[list[Sequence[int]]]:
    """Which stacks are under way together: all of one length on a GPU, else none."""
    groups: dict[int, list[Sequence[int]]] = {}
    for number, stack in enumerate(stacks):
        together = runs[stack[0]].epochs if device.type == "cuda" else number
        groups.setdefault(together, []).append(stack)
    return list(groups.values())


@contextmanager
def tensor_cores(device: torch.device) -> Iterator[None]:
    """TF32 products on a GPU for as long as this lasts; the setting is global."""
    before = torch.get_float32_matmul_precision()
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@torch.no_grad()
def train_runs(
    source: RowSource,
    runs: Sequence[TrainingRun],
    options: TrainingOptions,
    device: torch.device,
    on_epoch: EpochHook = lambda numbers, epoch, losses: None,
) -> list[TrainedRun]:
    """Train every run and return them in their order."""
    results = [TrainedRun({}, []) for _ in runs]
    with tensor_cores(device):
        for stacks in plan_groups(plan_stacks(runs, device), runs, device):
            _train_group(source, stacks, runs, options, device, on_epoch, results)
    return results


def _train_group(
    source: RowSource,
    stacks: Sequence[Sequence[int]],
    runs: Sequence[TrainingRun],
    options: TrainingOptions,
    device: torch.device,
    on_epoch: EpochHook,
    results: list[TrainedRun],
) -> None:
    """Train stacks of one length together, and fill in their results."""
    trainings = [
        StackTraining(source, [runs[i] for i in stack], options, device)
        for stack in stacks
    ]
    record = all(training.can_be_recorded() for training in trainings)
    advance = recorded_steps(trainings) if record else eager_steps(trainings)
    for epoch in range(1, runs[stacks[0][0]].epochs + 1):
        for training in trainings:
            training.begin_epoch()
        advance(trainings[0].steps_per_epoch)
        for stack, training in zip(stacks, trainings, strict=True):
            losses = training.mean_losses()
            for member, number in enumerate(stack):
                results[number].history.append({"epoch": epoch, "loss": losses[member]})
                if epoch in runs[number].snapshots:
                    results[number].encoders[epoch] = training.stack.encoder(member)
            on_epoch(stack, epoch, losses)
