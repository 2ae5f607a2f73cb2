"""Train the members of an ensemble: here or by a crew, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch

from scedae._autoencoder import TrainedRun, TrainingOptions, TrainingRun, train_runs
from scedae._defaults import resolve_precision
from scedae._members import MemberSpec, Training
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import child_seed
from scedae._rows import Crew, TrainingRows
from scedae._threads import own_threads

# What was trained, by MemberSpec.training.
Trained = dict[Training, TrainedRun]


def train_members(start: Prepared, source: TrainingRows, share: float = 1.0) -> Trained:
    """One training for all members that share it, kept at each member's epoch.

    ``share`` is the part of the stage that these members are.
    """
    runs = _plan_runs(start.specs, start.seed)
    if start.training is None:
        return {}
    trained: dict[TrainingRun, TrainedRun] = {}
    rows, checkpoint = start.rows, start.checkpoint
    watch = _Watch(start.progress, list(runs.values()), share)
    if checkpoint is not None:
        found = {run: checkpoint.finished(run) for run in runs.values()}
        trained = {run: result for run, result in found.items() if result is not None}
        watch.found(list(trained))
    missing = [run for run in runs.values() if run not in trained]

    def done(run: TrainingRun, result: TrainedRun) -> None:
        trained[run] = result
        watch.found([run])
        if checkpoint is not None:
            checkpoint.finish(run, result)

    crew, home = rows.crew(), rows.home
    if crew is not None:
        _train_by_crew(crew, source, missing, start.training, done)
    elif missing:
        results = train_runs(
            source, missing, start.training, home, watch.epoch, checkpoint
        )
        trained |= zip(missing, results, strict=True)
    return {name: _moved(trained[run], home) for name, run in runs.items()}


def _plan_runs(specs: Sequence[MemberSpec], seed: int) -> dict[Training, TrainingRun]:
    """The trainings that some members need, by ``MemberSpec.training``."""
    snapshots: dict[Training, set[int]] = {}
    for spec in specs:
        if spec.hidden_layers:
            snapshots.setdefault(spec.training, set()).add(spec.epochs)
    return {
        training: TrainingRun(
            training[0], _seed_of(training, seed), tuple(sorted(epochs))
        )
        for training, epochs in snapshots.items()
    }


def _seed_of(training: Training, seed: int) -> int:
    hidden, start, view = training
    name = () if view is None else (view,)
    return child_seed(seed, "member", *hidden, start, *name)


def _train_by_crew(
    crew: Crew,
    source: TrainingRows,
    runs: Sequence[TrainingRun],
    options: TrainingOptions,
    done: Callable[[TrainingRun, TrainedRun], None],
) -> None:
    """A share of the runs for each worker; company does not change a run."""
    n_shares = min(len(crew), len(runs))
    shares = [runs[i::n_shares] for i in range(n_shares)]

    def share_done(number: int, results: list[TrainedRun]) -> None:
        for run, result in zip(shares[number], results, strict=True):
            done(run, result)

    crew.call(partial(_train_share, source, options), shares, share_done)


def _train_share(
    source: TrainingRows,
    options: TrainingOptions,
    runs: Sequence[TrainingRun],
    should_stop: Callable[[], bool],
) -> list[TrainedRun]:
    """What a worker does, on the device it has."""
    device = source.device
    precision = resolve_precision(options.precision, device.type)

    def on_epoch(numbers: Sequence[int], epoch: int, losses: list[float]) -> None:
        if should_stop():
            raise InterruptedError("nobody waits for this training any more")

    options = replace(options, precision=precision)
    with own_threads():
        trained = train_runs(source, runs, options, device, on_epoch)
    return [_moved(run, torch.device("cpu")) for run in trained]


def _moved(trained: TrainedRun, device: torch.device) -> TrainedRun:
    encoders = {epoch: e.to(device) for epoch, e in trained.encoders.items()}
    return TrainedRun(encoders, trained.history)


class _Watch:
    """Turns epochs of trainings into progress of their stage."""

    def __init__(
        self, progress: Progress, runs: Sequence[TrainingRun], share: float
    ) -> None:
        self._progress, self._n_runs = progress, len(runs)
        self._part = share / max(sum(run.epochs for run in runs), 1)

    def found(self, runs: Sequence[TrainingRun]) -> None:
        """Trainings that somebody else has finished."""
        done = self._part * sum(run.epochs for run in runs)
        self._progress.advance(done, f"{len(runs)} of {self._n_runs} trainings")

    def epoch(self, numbers: Sequence[int], epoch: int, losses: list[float]) -> None:
        first, last = min(numbers) + 1, max(numbers) + 1
        which = str(first) if first == last else f"{first}-{last}"
        loss = sum(losses) / len(losses)
        detail = f"training {which} of {self._n_runs}, epoch {epoch}, loss {loss:.4f}"
        self._progress.advance(self._part * len(numbers), detail)
