"""From names to runs: what has to be computed for which table or figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from scedae._random import child_seed
from scedae.experiments.specification import (
    JOINT_VARIANTS,
    NAMES,
    Specification,
    Variant,
    structure_name,
)


@dataclass(frozen=True)
class PaperRun:
    """One computation that ends in one record; its fields say what it is."""

    experiment: str
    data: str
    method: str
    replicate: int
    structure: str = ""
    initialization: int | None = None
    epochs: int | None = None
    n_landmarks: int | None = None
    variant: str = ""

    @property
    def key(self) -> str:
        """A name that no other run has."""
        return "/".join("" if v is None else str(v) for v in vars(self).values())

    @classmethod
    def of(cls, record: dict[str, Any]) -> PaperRun:
        """The run a record belongs to."""
        return cls(**{f.name: record[f.name] for f in fields(cls)})

    def seed(self, root: int) -> int:
        """A seed of its own, whatever else is run; scikit-learn takes 32 bits."""
        return child_seed(root, self.key) % 2**32

    @property
    def needs_encodings(self) -> bool:
        return self.method.startswith(("dae-", "ens-")) or self.method == "embedding"


# Of LSC on the rows by a reading, with each landmark count.
_REPLICATES_ON_ROWS = 2

Planner = Callable[[Specification, str, int], Iterator[PaperRun]]


def plan_runs(
    names: Sequence[str], data: Sequence[str], specification: Specification, n: int
) -> list[PaperRun]:
    """All runs that some names need, ``n`` replicates of each, without repetitions."""
    runs = {}
    for name in names:
        for key in data_of(name, data, specification):
            for experiment in NAMES[name]:
                for run in _PLANNERS[experiment](specification, key, n):
                    runs[run.key] = run
    return list(runs.values())


def data_of(
    name: str, data: Sequence[str], specification: Specification
) -> Sequence[str]:
    """The data sets among ``data`` that a name has something to say about."""
    if name == "fcps":
        return ["shapes"]  # it brings its own
    known = specification.data
    if name == "comparison":
        return [key for key in data if known[key].compared]
    if name == "joint":
        return [key for key in data if known[key].joint_subset is not None]
    if name == "readings":
        run = {
            key for reading in specification.readings.values() for key in reading.data
        }
        return [key for key in data if key in run]
    return data


def _baselines(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    for variant in spec.data[data].row_variants:
        for i in range(n):
            yield PaperRun("baselines", data, "kmeans", i, variant=variant)
            for p in spec.landmarks:
                yield PaperRun(
                    "baselines", data, "lsc", i, n_landmarks=p, variant=variant
                )
    for structure in map(structure_name, spec.structures):
        for start in range(spec.initializations):
            for epochs in spec.epochs:
                where = (structure, start, epochs)
                for i in range(n):
                    p = spec.landmarks[i % len(spec.landmarks)]
                    yield PaperRun("baselines", data, "dae-kmeans", i, *where)
                    yield PaperRun("baselines", data, "dae-lsc", i, *where, p)


def _ensembles(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    epochs, p = spec.ensemble_epochs, spec.ensemble_landmarks
    for structure in map(structure_name, spec.structures):
        for i in range(n):
            start = i % spec.initializations
            yield PaperRun("ensembles", data, "ens-init", i, structure, None, epochs, p)
            yield PaperRun("ensembles", data, "ens-ep", i, structure, start, None, p)
    for start in range(spec.initializations):
        for i in range(n):
            yield PaperRun("ensembles", data, "ens-struct", i, "", start, epochs, p)


def _landmarks(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    for structure in map(structure_name, spec.structures):
        for i in range(n):
            where = (structure, i % spec.initializations, spec.ensemble_epochs)
            yield PaperRun("landmarks", data, "ens-landmarks", i, *where)


def _joint(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    if spec.data[data].joint_subset is None:
        return
    for variant in JOINT_VARIANTS:
        for method in spec.joint_methods:
            for i in range(n):
                yield PaperRun("joint", data, method, i, variant=variant)


def _choices(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    for variant in spec.variants.values():
        if variant.training == {"scale": spec.data[data].scale}:
            continue  # changes nothing here
        for i in range(n):
            yield PaperRun(
                "choices",
                data,
                "ens-struct",
                i,
                initialization=i % spec.variant_initializations,
                epochs=round(
                    spec.ensemble_epochs * variant.clustering.get("epochs_share", 1)
                ),
                n_landmarks=variant.clustering.get(
                    "n_landmarks", spec.ensemble_landmarks
                ),
                variant=variant.name,
            )


def _readings(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    """All ensembles of Table 4, once for each reading of what the paper leaves open.

    And LSC on the rows, where a reading concerns what comes after the networks: two
    runs with each landmark count tell readings apart, of which one run takes seconds.
    """
    for reading in spec.readings.values():
        if data in reading.data:
            for i in range(n):
                yield from _read(spec, data, reading, i)
                on_rows = reading.concerns_rows and i < _REPLICATES_ON_ROWS
                for p in spec.landmarks if on_rows else ():
                    run = PaperRun("readings", data, "lsc", i, n_landmarks=p)
                    yield replace(run, variant=reading.name)


def _read(
    spec: Specification, data: str, reading: Variant, i: int
) -> Iterator[PaperRun]:
    epochs, p = spec.ensemble_epochs, spec.ensemble_landmarks
    if "landmarks" in reading.averaged:
        p = spec.landmarks[i % len(spec.landmarks)]
    if "epochs" in reading.averaged:
        epochs = spec.epochs[i % len(spec.epochs)]
    n_starts = reading.initializations or spec.initializations
    start, run = i % n_starts, partial(PaperRun, variant=reading.name)
    for structure in map(structure_name, spec.structures):
        if n_starts == spec.initializations:
            yield run("readings", data, "ens-init", i, structure, None, epochs, p)
        yield run("readings", data, "ens-ep", i, structure, start, None, p)
    yield run("readings", data, "ens-struct", i, "", start, epochs, p)


def _curves(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    """Against the number of members, of landmarks, and of epochs."""
    epochs, p = spec.ensemble_epochs, spec.ensemble_landmarks
    for i in range(n):
        for m in spec.member_counts:
            where = ("", None, epochs, p)
            yield PaperRun("curves", data, "ens-members", i, *where, variant=str(m))
        start = i % spec.initializations
        for count in spec.landmarks:
            yield PaperRun("curves", data, "ens-struct", i, "", start, epochs, count)
        for length in spec.epochs:
            yield PaperRun("curves", data, "ens-struct", i, "", start, length, p)


def _fcps(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    for shape in spec.shapes.shapes:
        for variant in spec.shapes.variants:
            for lifting in spec.shapes.liftings:
                for i in range(n):
                    yield PaperRun("fcps", shape, lifting, i, variant=variant)


def _embeddings(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    # One picture: replicates would only be other pictures.
    where = ("", 0, spec.ensemble_epochs, spec.ensemble_landmarks)
    yield PaperRun("embedding", data, "embedding", 0, *where)


def _maps(spec: Specification, data: str, n: int) -> Iterator[PaperRun]:
    yield PaperRun("tsne", data, "map", 0)


_PLANNERS: dict[str, Planner] = {
    "fcps": _fcps,
    "baselines": _baselines,
    "ensembles": _ensembles,
    "landmarks": _landmarks,
    "joint": _joint,
    "choices": _choices,
    "readings": _readings,
    "curves": _curves,
    "embedding": _embeddings,
    "tsne": _maps,
}
