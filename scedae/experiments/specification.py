"""The paper's settings and our reading of them, from ``paper.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

Structure = tuple[int, ...]

# The experiments each name needs.
NAMES: dict[str, tuple[str, ...]] = {
    "fcps": ("fcps",),
    "baselines": ("baselines",),
    "ensembles": ("ensembles",),
    "landmarks": ("landmarks",),
    "comparison": ("baselines", "ensembles", "joint"),
    "boxplots": ("baselines", "ensembles"),
    "tsne": ("embedding", "tsne"),
    "choices": ("choices",),
    "readings": ("readings",),
    "curves": ("curves",),
    # Parts of comparison and tsne, for a machine whose time is too dear for the rest.
    "joint": ("joint",),
    "embedding": ("embedding",),
}


# DCN, IDEC and DKM: with the settings of their classes on rows in [0, 1], and in the
# units and with the settings that they were published with.
JOINT_VARIANTS = ("", "published")


def structure_name(structure: Structure) -> str:
    """As the paper writes it: "500-750-1000"."""
    return "-".join(map(str, structure))


@dataclass(frozen=True)
class DataSpec:
    """Which rows of which data set, and under whose name values were published."""

    title: str
    source: str
    subset: str
    scale: str  # of the rows that networks see
    published: str
    compared: bool = False  # whether it has a column in the comparison
    joint_subset: str | None = None  # rows of DCN, IDEC and DKM; None: not run
    # Of the values of those rows in the program that a method was published with.
    joint_ranges: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def row_variants(self) -> tuple[str, ...]:
        """How k-means and LSC see the rows: in [0, 1], and as networks see them."""
        return ("", "l2") if self.scale == "l2" else ("",)


@dataclass(frozen=True)
class ShapeSpec:
    """The synthetic shapes."""

    shapes: list[str]
    sources: list[str]
    scales: list[str]
    liftings: list[str]
    hidden_layers: list[int]
    epochs: int
    n_landmarks: int
    small_batches: list[int]  # tried beside those of the tables, on L2 rows

    @property
    def variants(self) -> list[str]:
        """Where a shape comes from and how its rows are scaled: "file-l2".

        Behind it, rows of a batch, if they are other than the tables': "file-l2-32".
        """
        plain = [f"{source}-{s}" for source in self.sources for s in self.scales]
        tried = [name for name in plain if name.endswith("-l2")]
        return plain + [f"{name}-{n}" for name in tried for n in self.small_batches]


@dataclass(frozen=True)
class MapSpec:
    """How t-SNE is run."""

    perplexity: float
    learning_rate: float
    n_iterations: int


@dataclass(frozen=True)
class Variant:
    """One change to the structure ensemble, in its training or after it."""

    name: str
    question: str
    training: dict[str, Any] = field(default_factory=dict)
    clustering: dict[str, Any] = field(default_factory=dict)
    # Of readings alone: other networks, another tail, other averages; where it is run.
    network: dict[str, Any] = field(default_factory=dict)
    tail: dict[str, Any] = field(default_factory=dict)
    averaged: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    initializations: int | None = None  # of each structure, where all take too long

    @property
    def trained(self) -> str:
        """A name for its encodings; empty, if they are those of the tables."""
        parts = {**self.training, **self.network}
        if self.initializations:
            parts["initializations"] = self.initializations
        return "-".join(f"{key}-{value}" for key, value in parts.items())

    @property
    def concerns_rows(self) -> bool:
        """Whether LSC on the rows themselves, without a network, can tell it."""
        return not (self.trained or self.averaged or self.tail.get("unit_codes"))

    @property
    def is_reading(self) -> bool:
        """Readings are run for all ensembles, choices for one of them."""
        return bool(self.data)


@dataclass(frozen=True)
class Specification:
    """Everything that decides what is run; ``paper.toml`` says why."""

    structures: tuple[Structure, ...]
    epochs: tuple[int, ...]
    initializations: int
    seed: int
    batch_size: int  # of all trainings, unless a choice or a reading has its own
    replicates: int
    landmarks: tuple[int, ...]
    ensemble_landmarks: int
    ensemble_epochs: int
    landmark_ensemble: tuple[int, ...]
    joint_methods: tuple[str, ...]
    data: dict[str, DataSpec]
    shapes: ShapeSpec
    maps: dict[str, MapSpec]
    variants: dict[str, Variant]
    readings: dict[str, Variant]
    member_counts: tuple[int, ...]
    variant_initializations: int
    default_data: tuple[str, ...]
    is_quick: bool
    width_divisor: int
    max_rows: int | None
    joint_settings: dict[str, Any]  # by method, or by data and method
    joint_changes: dict[str, Any]  # of all of them, in the small version

    def variant(self, name: str) -> Variant | None:
        """A choice or a reading by its name."""
        return self.variants.get(name) or self.readings.get(name)

    def widths(self, structure: Structure) -> Structure:
        """The hidden layers that are trained under the name of a structure."""
        return tuple(width // self.width_divisor for width in structure)


@cache
def read_file() -> dict[str, Any]:
    """``paper.toml`` as it is."""
    text = files("scedae.experiments").joinpath("paper.toml").read_text("utf-8")
    return tomllib.loads(text)


def load_specification(*, quick: bool = False) -> Specification:
    """The paper's settings, or the small version of them."""
    content = read_file()
    small = content["quick"] if quick else {}
    merged = _merge(content, small)
    choices = merged["choices"]
    return Specification(
        structures=tuple(map(tuple, merged["structures"])),
        epochs=tuple(merged["epochs"]),
        initializations=merged["initializations"],
        seed=merged["seed"],
        batch_size=merged["batch_size"],
        replicates=merged["replicates"],
        landmarks=tuple(merged["landmarks"]),
        ensemble_landmarks=merged["ensemble_landmarks"],
        ensemble_epochs=merged["ensemble_epochs"],
        landmark_ensemble=tuple(merged["landmark_ensemble"]),
        joint_methods=tuple(merged["joint_methods"]),
        data={key: _data(value) for key, value in content["data"].items()},
        shapes=ShapeSpec(**merged["fcps"]),
        maps={key: MapSpec(**value) for key, value in merged["tsne"].items()},
        variants={v["name"]: Variant(**v) for v in choices["variants"]},
        variant_initializations=choices["initializations"],
        readings={v["name"]: _reading(v) for v in merged["readings"]},
        member_counts=tuple(merged["member_counts"]),
        default_data=tuple(small.get("data", content["data"])),
        is_quick=quick,
        width_divisor=small.get("width_divisor", 1),
        max_rows=small.get("max_rows"),
        joint_settings=content["joint"],
        joint_changes=small.get("joint_changes", {}),
    )


def _data(value: dict[str, Any]) -> DataSpec:
    own = value.get("joint_ranges", {})
    ranges = {name: (low, high) for name, (low, high) in own.items()}
    return DataSpec(**{**value, "joint_ranges": ranges})


def _reading(value: dict[str, Any]) -> Variant:
    lists = {key: tuple(value.get(key, ())) for key in ("averaged", "data")}
    return Variant(**{**value, **lists})


def _merge(whole: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """``whole`` with ``changes`` laid over it, table by table."""
    merged = dict(whole)
    for name, value in changes.items():
        both = isinstance(value, dict) and isinstance(whole.get(name), dict)
        merged[name] = _merge(whole[name], value) if both else value
    return merged
