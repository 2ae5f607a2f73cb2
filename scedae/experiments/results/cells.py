"""A cell: our mean and spread beside the published one."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scedae.experiments.results.published import Published, published_values
from scedae.experiments.specification import (
    JOINT_VARIANTS,
    DataSpec,
    Specification,
    structure_name,
)
from scedae.experiments.store import Record

VERDICTS = ("above", "inside", "below", "not run")

# Where the runs of a method are; the joint ones have an experiment of their own.
EXPERIMENT_OF = {
    **dict.fromkeys(("kmeans", "lsc", "dae-kmeans", "dae-lsc"), "baselines"),
    **dict.fromkeys(("ens-init", "ens-ep", "ens-struct"), "ensembles"),
    "ens-landmarks": "landmarks",
}
_OVER_STRUCTURES = ("dae-kmeans", "dae-lsc", "ens-init", "ens-ep")


@dataclass(frozen=True)
class Measured:
    """Mean and standard deviation over runs, in percent."""

    mean: float
    spread: float
    n_runs: int


@dataclass(frozen=True)
class Cell:
    """One number of a table: ours, theirs, and how they compare."""

    data: str  # which rows; several may stand beside one published column
    published: Published
    ours: Measured | None
    variant: str = ""  # scaling of rows; of a shape: where it comes from, too

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours.mean - self.published.mean

    @property
    def verdict(self) -> str:
        """Where our mean lies: inside the paper's mean ± spread, above or below it."""
        if self.difference is None:
            return "not run"
        # As printed: a difference in digits nobody printed is none.
        difference = round(self.difference, 2)
        if abs(difference) <= self.published.band:
            return "inside"
        return "above" if difference > 0 else "below"


class Measurements:
    """Scores of records, found by what they belong to."""

    def __init__(self, records: Iterable[Record]) -> None:
        # A run that was done twice counts once.
        self._scores: dict[tuple[str, ...], dict[tuple, dict[str, float]]] = {}
        for record in records:
            if "scores" in record:
                own = self._scores.setdefault(_group(record), {})
                own[_which(record)] = record["scores"]

    def values(self, metric: str, *group: str) -> list[float]:
        """Scores of all runs of a group, in percent.

        A group is experiment, data, method, structure and variant.
        """
        return [100 * scores[metric] for scores in self._scores.get(group, {}).values()]

    def measured(self, metric: str, *group: str) -> Measured | None:
        values = self.values(metric, *group)
        if not values:
            return None
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return Measured(statistics.fmean(values), spread, len(values))


def _group(record: Record) -> tuple[str, ...]:
    parts = ("experiment", "data", "method", "structure", "variant")
    return tuple(record[part] for part in parts)


def _which(record: Record) -> tuple:
    parts = ("initialization", "epochs", "n_landmarks", "replicate")
    return tuple(record[part] for part in parts)


def find_cells(measurements: Measurements, specification: Specification) -> list[Cell]:
    """All cells of the paper's tables, whether they were run or not."""
    cells = []
    for value in published_values():
        if value.name == "fcps":
            cells += _shape_cells(value, measurements, specification)
            continue
        for key, entry in specification.data.items():
            if entry.published == value.data and _is_shown(value, key, specification):
                for variant in _variants(value, entry):
                    ours = _measure(value, key, variant, measurements, specification)
                    cells.append(Cell(key, value, ours, variant))
    return cells


def _variants(value: Published, entry: DataSpec) -> tuple[str, ...]:
    """What stands beside a value: other scalings of rows, or other units."""
    if value.method in ("kmeans", "lsc"):
        return entry.row_variants
    return ("",) if value.method in EXPERIMENT_OF else JOINT_VARIANTS


def _is_shown(value: Published, key: str, specification: Specification) -> bool:
    """Joint methods were published with all rows: other rows are no comparison."""
    is_joint = value.name == "comparison" and value.method not in EXPERIMENT_OF
    return not is_joint or specification.data[key].joint_subset is not None


def _measure(
    value: Published,
    key: str,
    variant: str,
    found: Measurements,
    specification: Specification,
) -> Measured | None:
    if value.name != "comparison":
        return found.measured(
            value.metric, value.name, key, value.method, value.structure, variant
        )
    experiment = EXPERIMENT_OF.get(value.method, "joint")
    structures = [""]
    if value.method in _OVER_STRUCTURES:
        structures = [structure_name(s) for s in specification.structures]
    return _mean_of(
        [
            found.measured(
                value.metric, experiment, key, value.method, structure, variant
            )
            for structure in structures
        ]
    )


def _mean_of(parts: Sequence[Measured | None]) -> Measured | None:
    """Means of means and of spreads, as the paper made it; all parts must be there."""
    there = [part for part in parts if part is not None]
    if len(there) < len(parts):
        return None
    return Measured(
        statistics.fmean(part.mean for part in there),
        statistics.fmean(part.spread for part in there),
        sum(part.n_runs for part in there),
    )


def _shape_cells(
    value: Published, found: Measurements, specification: Specification
) -> list[Cell]:
    cells = []
    for variant in specification.shapes.variants:
        ours = found.measured("acc", "fcps", value.data, value.method, "", variant)
        cells.append(Cell(value.data, value, ours, variant))
    return cells
