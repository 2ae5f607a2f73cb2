"""Run what has no record yet. Stopped at any moment, it goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, as_completed
from itertools import groupby
from pathlib import Path

from scedae._validation import resolve_device
from scedae.experiments import data as data_sets
from scedae.experiments.clustering import Place, cluster
from scedae.experiments.encodings import encoding_file, train_encodings, training_run
from scedae.experiments.folder import RequestError, claimed
from scedae.experiments.joint import fit_joint
from scedae.experiments.maps import draw_map, embed, embedding_file
from scedae.experiments.plan import NAMES, Run, data_of, plan_runs
from scedae.experiments.progress import LogLines, Reporter, TrainingLines
from scedae.experiments.shapes import cluster_shape, load_shape
from scedae.experiments.specification import Specification, load_specification
from scedae.experiments.store import Record, Store
from scedae.experiments.workers import Task, Workers, start_workers

# Fewer runs than this are not worth the start of another process.
_RUNS_A_WORKER = 8


def run(
    names: Sequence[str],
    *,
    folder: str | os.PathLike[str],
    data: Sequence[str] | None = None,
    replicates: int | None = None,
    device: str = "auto",
    quick: bool = False,
    workers: int | None = None,
    reporter: Reporter | None = None,
) -> None:
    """Compute the records that tables and figures of the paper need.

    Runs that have a record in ``folder`` are not repeated; with all of them there,
    nothing is loaded or trained. :func:`render` makes tables and figures of them.

    Parameters
    ----------
    names : sequence of str
        Of ``scedae.experiments.NAMES``.
    folder : path
        Gets ``records/``, ``points/`` and ``encodings/`` (large, ignored by git).
    data : sequence of str, default=None
        "mnist", "usps", "usps-train", "pendigits", "pendigits-range"; None takes all,
        or two small ones if ``quick``.
    replicates : int, default=None
        None: the paper's 10, or 2 if ``quick``.
    device : str, default="auto"
        Where networks are trained, and where 20,000 rows or more are clustered.
    quick : bool, default=False
        A small version for a CPU: same code, fewer rows, smaller networks.
    workers : int, default=None
        Processes that share the clusterings; None: one for each core, two fewer
        beside a GPU.
    reporter : Reporter, default=None
        Who is told how far things are; None: lines on standard error.
    """
    specification = load_specification(quick=quick)
    keys = list(specification.default_data if data is None else data)
    n_replicates = specification.replicates if replicates is None else replicates
    check_request(names, keys, n_replicates, specification)
    place = Place(specification, Path(folder), str(resolve_device(device)))
    with claimed(place.folder, specification):
        store = Store(place.folder)
        missing = _missing(plan_runs(names, keys, specification, n_replicates), store)
        missing = [r for r in missing if not _needless(r, missing, place)]
        if not missing:
            return
        _require_data(missing, specification)
        reporter = reporter or LogLines()
        reporter.begin(len(missing))
        n_workers = _n_workers(workers, missing, place)
        with start_workers(n_workers) as pool:
            _Session(place, store, pool, reporter).carry_out(missing)


def check_request(
    names: Sequence[str],
    data: Sequence[str],
    n_replicates: int,
    specification: Specification,
) -> None:
    """Refuse what does not exist, in one line."""
    for kind, given, known in (
        ("name", names, NAMES),
        ("data set", data, specification.data),
    ):
        if not given:
            raise RequestError(f"give at least one {kind} of {', '.join(known)}.")
        for word in given:
            if word not in known:
                raise RequestError(
                    f"there is no {kind} {word!r}; choose of {', '.join(known)}."
                )
    if n_replicates < 1:
        raise RequestError(f"replicates={n_replicates} must be at least 1.")
    for name in names:
        if not data_of(name, data, specification):
            raise RequestError(f"the paper has no {name} for {', '.join(data)}.")


def _missing(runs: Iterable[Run], store: Store) -> list[Run]:
    finished = store.finished()
    # B is no result of its own: it is wanted again for a map that is not there.
    maps = {r.data for r in runs if r.experiment == "tsne" and r.key not in finished}
    return [
        r
        for r in runs
        if r.key not in finished or (r.method == "embedding" and r.data in maps)
    ]


def _needless(candidate: Run, missing: Sequence[Run], place: Place) -> bool:
    """An embedding that lies there already, for a map that is to be drawn."""
    has_map = Run("tsne", candidate.data, "map", 0) in missing
    is_embedding = candidate.method == "embedding"
    return (
        is_embedding
        and has_map
        and embedding_file(place.folder, candidate.data).exists()
    )


def _require_data(missing: Sequence[Run], specification: Specification) -> None:
    """Data that is absent is told before the work, not in the middle of it."""
    for run in missing:
        if run.experiment == "fcps":
            load_shape(run.data, run.variant.split("-")[0], 0)
    for key in dict.fromkeys(r.data for r in missing if r.experiment != "fcps"):
        data_sets.load(specification, key)


def _n_workers(asked: int | None, missing: Sequence[Run], place: Place) -> int:
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    if asked is None:
        asked = n_cores if place.device == "cpu" else max(n_cores - 2, 1)
    return max(min(asked, len(missing) // _RUNS_A_WORKER), 1)


class _Session:
    """Sends runs to workers, and trains in this process what they wait for."""

    def __init__(
        self, place: Place, store: Store, workers: Workers, reporter: Reporter
    ) -> None:
        self._place, self._store = place, store
        self._workers, self._reporter = workers, reporter
        self._sent: list[Future[Record]] = []
        self._failed: list[Future[Record]] = []

    def carry_out(self, missing: Sequence[Run]) -> None:
        """What needs no training first: it goes on while networks train here."""
        for run in missing:
            if run.experiment == "fcps":
                self._send(cluster_shape, run)
        for method in ("kmeans", "lsc"):  # the longest first
            for run in missing:
                if run.method == method:
                    self._send(cluster, run)
        self._cluster_encodings([r for r in missing if r.needs_encodings])
        self._fit_joint([r for r in missing if r.experiment == "joint"])
        self._wait()
        for run in missing:
            if run.experiment == "tsne":
                self._reporter.say(f"{run.data}: t-SNE")
                self._keep(draw_map(run, self._place))

    def _cluster_encodings(self, runs: Sequence[Run]) -> None:
        """Encodings of one file after another; their runs are sent as soon as it is."""
        files: dict[Path, list[Run]] = {}
        for run in runs:
            variant = self._place.specification.variants.get(run.variant)
            path = encoding_file(self._place.folder, run.data, variant)
            files.setdefault(path, []).append(run)
        for path, own in files.items():
            if not path.exists():
                self._train(path, own[0])
            for run in own:
                self._send(embed if run.method == "embedding" else cluster, run)

    def _train(self, path: Path, run: Run) -> None:
        self._make_room()
        specification = self._place.specification
        training = training_run(run.data, specification.variants.get(run.variant))
        subject = f"{run.data} {training.variant}".strip()
        self._reporter.say(f"{subject}: training its encodings")
        record = train_encodings(
            path,
            training,
            data_sets.load(specification, run.data),
            specification,
            resolve_device(self._place.device),
            TrainingLines(self._reporter, subject),
        )
        self._store.append(record)
        lost = sum(loss is None for loss in record["losses"].values())
        collapsed = f", {lost} collapsed" if lost else ""
        self._reporter.say(f"{subject}: {record['seconds']} s{collapsed}")

    def _fit_joint(self, runs: Sequence[Run]) -> None:
        for (data, method), group in groupby(runs, lambda r: (r.data, r.method)):
            self._make_room()
            self._reporter.say(f"{data}: {method}")
            for record in fit_joint(list(group), self._place):
                self._keep(record)

    def _send(self, task: Task, run: Run) -> None:
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
