"""Train the autoencoders of an ensemble together: what shares a step, and where."""

from __future__ import annotations

import importlib.util
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import torch

from scedae._autoencoder.adam import learning_rates
from scedae._autoencoder.batches import Batches, RowSource
from scedae._autoencoder.network import Encoder, layer_widths
from scedae._autoencoder.stack_training import StackTraining
from scedae._autoencoder.stepping import Learner, Training, replay, walk
from scedae._autoencoder.variation import USUAL, Variation
from scedae._threads import helpers, n_threads, share_out

PRECISIONS = ("float32", "tf32", "bfloat16")

# Networks up to this width are limited by the hand-over between operations, not by
# arithmetic: they gain from being padded into one stack even on a CPU.
_SMALL_WIDTH = 256


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
    precision: str = "float32"
    variation: Variation = USUAL


@dataclass(frozen=True)
class TrainedRun:
    """Encoders by the epoch they were kept at, and the loss of every epoch."""

    encoders: dict[int, Encoder]
    history: list[dict[str, float]]


@dataclass(frozen=True)
class Unfinished:
    """Trainings that share their steps, on their way."""

    epoch: int  # the last one taken
    tensors: list[torch.Tensor]  # every one that a step changes
    results: list[TrainedRun]


class Journal(Protocol):
    """Remembers trainings on their way, should this process be killed."""

    def recall(self, runs: Sequence[TrainingRun]) -> Unfinished | None: ...
    def note(self, runs: Sequence[TrainingRun], unfinished: Unfinished) -> None: ...


# Called after each epoch with the numbers of the runs and their losses.
EpochHook = Callable[[Sequence[int], int, list[float]], None]


def widest(run: TrainingRun) -> int:
    return max(run.hidden_layers)


def padding(run: TrainingRun) -> tuple[int, ...]:
    """Hidden widths a run is padded to: those of all orders of its own, if small.

    They depend on the run alone: in any company its weights are the same.
    """
    if widest(run) > _SMALL_WIDTH:
        return run.hidden_layers
    return (widest(run),) * len(run.hidden_layers)


def plan_groups(runs: Sequence[TrainingRun], device: torch.device) -> list[list[int]]:
    """Which runs share their steps, by number.

    On a GPU all of one length, depth and schedule do. On a CPU only small ones of one
    padded structure do, since one large network is enough to keep a core busy.
    """
    groups: dict[object, list[int]] = {}
    for number, run in enumerate(runs):
        key: tuple[object, ...] = (run.epochs, run.is_kept_on_the_way)
        if device.type == "cuda":
            key += (len(run.hidden_layers),)
        elif widest(run) <= _SMALL_WIDTH:
            key += (padding(run),)
        else:
            key += (number,)
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def has_triton() -> bool:
    """Whether the fused kernels can be compiled: Triton, and the compiler it calls."""
    compilers = ("cc", "gcc", "clang")
    return (
        importlib.util.find_spec("triton") is not None
        and torch.version.cuda is not None
        and torch.cuda.get_device_capability() >= (8, 0)
        and any(shutil.which(compiler) for compiler in compilers)
    )


def on_device(device: torch.device) -> AbstractContextManager[object]:
    """Streams and graphs made inside belong to this GPU."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def start_training(
    source: RowSource,
    runs: Sequence[TrainingRun],
    options: TrainingOptions,
    device: torch.device,
) -> tuple[Training, Batches]:
    """Weights and batches of runs that share their steps.

    Both are drawn on the CPU, from each run's own generator.
    """
    generators = [torch.Generator().manual_seed(run.seed) for run in runs]
    batches = Batches(source, generators, options.batch_size)
    widths = [
        layer_widths(source.n_columns, run.hidden_layers, options.encoding_dim)
        for run in runs
    ]
    rates = learning_rates(
        options.learning_rate,
        "constant" if runs[0].is_kept_on_the_way else options.schedule,
        batches.steps_per_epoch * runs[0].epochs,
    )
    if device.type == "cuda" and options.variation == USUAL and has_triton():
        from scedae._autoencoder.fused_training import FusedTraining

        return FusedTraining(
            widths,
            generators,
            batches.batch_size,
            rates,
            device,
            bounded=options.bounded,
            precision=options.precision,
        ), batches
    if options.precision == "bfloat16":
        raise ValueError(
            "precision='bfloat16' needs a GPU with Triton and a C compiler: use "
            "precision='auto'."
        )
    if device.type == "cuda":
        padded = tuple(max(column) for column in zip(*widths, strict=True))
    else:
        hidden = padding(runs[0])
        padded = layer_widths(source.n_columns, hidden, options.encoding_dim)
    return StackTraining(
        widths,
        padded,
        batches.batch_size,
        generators,
        rates,
        device,
        bounded=options.bounded,
        precision=options.precision,
        variation=options.variation,
    ), batches


def rounds(
    training: Learner,
    batches: Batches,
    n_rounds: int,
    device: torch.device,
    stop: threading.Event | None = None,
) -> Iterator[int]:
    """Take the steps of so many rounds; yields the number of each when it is done."""
    if device.type == "cuda":
        return replay(training, batches, n_rounds, device)
    return walk(training, batches, n_rounds, stop or threading.Event())


def train_runs(
    source: RowSource,
    runs: Sequence[TrainingRun],
    options: TrainingOptions,
    device: torch.device,
    on_epoch: EpochHook = lambda numbers, epoch, losses: None,
    journal: Journal | None = None,
) -> list[TrainedRun]:
    """Train every run and return them in their order.

    With a journal, trainings go on from where it saw them last.
    """
    results = [TrainedRun({}, []) for _ in runs]
    stop, one_at_a_time = threading.Event(), threading.Lock()

    @torch.no_grad()
    def train(group: Sequence[int]) -> None:
        members = [runs[number] for number in group]
        training, batches = start_training(source, members, options, device)
        taken = 0
        unfinished = journal.recall(members) if journal is not None else None
        if unfinished is not None and _fits(unfinished, training):
            taken = _take_up(unfinished, training, batches)
            for number, result in zip(group, unfinished.results, strict=True):
                results[number] = result
        n_rounds = members[0].epochs - taken
        for epoch in rounds(training, batches, n_rounds, device, stop):
            epoch += taken
            losses = (training.take_losses() / batches.steps_per_epoch).tolist()
            for member, number in enumerate(group):
                results[number].history.append({"epoch": epoch, "loss": losses[member]})
                if epoch in runs[number].snapshots:
                    results[number].encoders[epoch] = training.encoder(member)
            with one_at_a_time:
                on_epoch(group, epoch, losses)
                if journal is not None:
                    so_far = [results[number] for number in group]
                    journal.note(members, Unfinished(epoch, training.state(), so_far))

    groups = plan_groups(runs, device)
    if device.type == "cuda":
        with on_device(device):
            for group in groups:
                train(group)
        return results
    # A core that trains its own network never waits for another; those that are left
    # over help with the large products.
    n_each = max(n_threads() // len(groups), 1)

    def train_with_help(group: Sequence[int]) -> None:
        with helpers(n_each):
            train(group)

    share_out(train_with_help, groups, on_error=stop.set)
    return results


def _fits(unfinished: Unfinished, training: Training) -> bool:
    """Whether what was kept is the state of such a training."""
    kept, here = unfinished.tensors, training.state()
    return [(t.shape, t.dtype) for t in kept] == [(t.shape, t.dtype) for t in here]


def _take_up(unfinished: Unfinished, training: Training, batches: Batches) -> int:
    """Bring a training to where it was; returns the epochs it has behind it."""
    for tensor, value in zip(training.state(), unfinished.tensors, strict=True):
        tensor.copy_(value)
    batches.skip(unfinished.epoch)
    return unfinished.epoch
