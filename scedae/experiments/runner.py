"""Run what has no record yet. Stopped at any moment, it goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from scedae._device import resolve_device
from scedae.experiments import data_sets
from scedae.experiments.environment import Place
from scedae.experiments.folder import RequestError, claimed
from scedae.experiments.maps import embedding_file
from scedae.experiments.plan import PaperRun, data_of, plan_runs
from scedae.experiments.reporting import LogLines, Reporter
from scedae.experiments.session import Session
from scedae.experiments.shape_runs import load_shape
from scedae.experiments.specification import NAMES, Specification, load_specification
from scedae.experiments.store import Store
from scedae.experiments.workers import start_workers

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
            Session(place, store, pool, reporter).carry_out(missing)


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


def _missing(runs: Iterable[PaperRun], store: Store) -> list[PaperRun]:
    finished = store.finished()
    # B is no result of its own: it is wanted again for a map that is not there.
    maps = {r.data for r in runs if r.experiment == "tsne" and r.key not in finished}
    return [
        r
        for r in runs
        if r.key not in finished or (r.method == "embedding" and r.data in maps)
    ]


def _needless(candidate: PaperRun, missing: Sequence[PaperRun], place: Place) -> bool:
    """An embedding that lies there already, for a map that is to be drawn."""
    # First what is quick to tell: of thousands of runs few are embeddings.
    return (
        candidate.method == "embedding"
        and PaperRun("tsne", candidate.data, "map", 0) in missing
        and embedding_file(place.folder, candidate.data).exists()
    )


def _require_data(missing: Sequence[PaperRun], specification: Specification) -> None:
    """Data that is absent is told before the work, not in the middle of it."""
    for run in missing:
        if run.experiment == "fcps":
            load_shape(run.data, run.variant.split("-")[0], 0)
    for key in dict.fromkeys(r.data for r in missing if r.experiment != "fcps"):
        data_sets.load_data(specification, key)


def _n_workers(asked: int | None, missing: Sequence[PaperRun], place: Place) -> int:
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    if asked is None:
        asked = n_cores if place.device == "cpu" else max(n_cores - 2, 1)
    return max(min(asked, len(missing) // _RUNS_A_WORKER), 1)
