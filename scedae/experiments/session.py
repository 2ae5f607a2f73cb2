"""One session of runs: what is sent to workers, what is trained here, and when."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, as_completed
from itertools import groupby
from pathlib import Path

from scedae._device import resolve_device
from scedae.experiments.clustering import carry_out
from scedae.experiments.data_sets import load_data
from scedae.experiments.encodings import train_encodings, training_run
from scedae.experiments.environment import Place
from scedae.experiments.joint_runs import fit_joint
from scedae.experiments.kept_files import encoding_file
from scedae.experiments.maps import draw_map, embed_rows
from scedae.experiments.plan import PaperRun
from scedae.experiments.reporting import Reporter, TrainingLines
from scedae.experiments.shape_runs import cluster_shape
from scedae.experiments.store import Record, Store
from scedae.experiments.workers import Task, Workers


class Session:
    """Sends runs to workers, and trains in this process what they wait for."""

    def __init__(
        self, place: Place, store: Store, workers: Workers, reporter: Reporter
    ) -> None:
        self._place, self._store = place, store
        self._workers, self._reporter = workers, reporter
        self._sent: list[Future[Record]] = []
        self._failed: list[Future[Record]] = []

    def carry_out(self, missing: Sequence[PaperRun]) -> None:
        """What needs no training first: it goes on while networks train here."""
        for run in missing:
            if run.experiment == "fcps":
                self._send(cluster_shape, run)
        for method in ("kmeans", "lsc"):  # the longest first
            for run in missing:
                if run.method == method:
                    self._send(carry_out, run)
        self._cluster_encodings([r for r in missing if r.needs_encodings])
        self._fit_joint([r for r in missing if r.experiment == "joint"])
        self._wait()
        for run in missing:
            if run.experiment == "tsne":
                self._reporter.say(f"{run.data}: t-SNE")
                self._keep(draw_map(run, self._place))

    def _cluster_encodings(self, runs: Sequence[PaperRun]) -> None:
        """Encodings of one file after another; their runs are sent as soon as it is."""
        files: dict[Path, list[PaperRun]] = {}
        for run in runs:
            variant = self._place.specification.variant(run.variant)
            path = encoding_file(self._place.folder, run.data, variant)
            files.setdefault(path, []).append(run)
        for path, own in files.items():
            if not path.exists():
                self._train(path, own[0])
            for run in own:
                self._send(embed_rows if run.method == "embedding" else carry_out, run)

    def _train(self, path: Path, run: PaperRun) -> None:
        self._make_room()
        specification = self._place.specification
        variant = specification.variant(run.variant)
        training = training_run(run.data, variant)
        subject = f"{run.data} {training.variant}".strip()
        self._reporter.say(f"{subject}: training its encodings")
        record = train_encodings(
            path,
            training,
            variant,
            load_data(specification, run.data),
            specification,
            resolve_device(self._place.device),
            TrainingLines(self._reporter, subject),
        )
        self._store.append(record)
        lost = sum(loss is None for loss in record["losses"].values())
        collapsed = f", {lost} collapsed" if lost else ""
        self._reporter.say(f"{subject}: {record['seconds']} s{collapsed}")

    def _fit_joint(self, runs: Sequence[PaperRun]) -> None:
        kinds = groupby(runs, lambda r: (r.data, r.method, r.variant))
        for (data, method, variant), group in kinds:
            self._make_room()
            self._reporter.say(f"{data}: {method} {variant}".rstrip())
            for record in fit_joint(list(group), self._place):
                self._keep(record)

    def _send(self, task: Task, run: PaperRun) -> None:
        future = self._workers.submit(task, run, self._place)
        self._sent.append(future)
        future.add_done_callback(self._received)

    def _received(self, future: Future[Record]) -> None:
        """Written down at once, also while this process is busy with a training."""
        if future.cancelled():
            return
        if future.exception() is None:
            self._keep(future.result())
        else:
            self._failed.append(future)

    def _make_room(self) -> None:
        """Before a training: on a CPU, workers would only fight for the same cores."""
        if self._place.device == "cpu":
            self._wait()
        for future in self._failed:
            future.result()  # raises what went wrong, before more work is begun

    def _keep(self, record: Record) -> None:
        self._store.append(record)
        self._reporter.finished(record)

    def _wait(self) -> None:
        for future in as_completed(self._sent):
            future.result()
