"""What the paper printed, as ``paper.toml`` quotes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scedae.experiments.specification import read_file, structure_name


@dataclass(frozen=True)
class Published:
    """One printed value in percent, with its ± if it has one, and where it stands."""

    name: str
    table: str
    metric: str
    data: str
    method: str
    structure: str
    mean: float
    spread: float | None = None

    @property
    def band(self) -> float:
        """How far from the mean is still the same result.

        Where no spread was printed, what two digits leave open.
        """
        return 0.5 if self.spread is None else self.spread

    def __str__(self) -> str:
        spread = "" if self.spread is None else f" ± {self.spread:.2f}"
        return f"{self.mean:.2f}{spread}"


def published_values() -> list[Published]:
    """Every value, in the order of the tables."""
    return [value for entry in read_file()["published"] for value in _values(entry)]


def _values(entry: dict[str, Any]) -> Iterator[Published]:
    where = (entry["name"], entry["table"], entry["metric"])
    names = [structure_name(tuple(s)) for s in read_file()["structures"]]
    for data, methods in entry["values"].items():
        for method, printed in methods.items():
            if isinstance(printed[0], list):
                for structure, pair in zip(names, printed, strict=True):
                    yield Published(*where, data, method, structure, *pair)
            else:
                yield Published(*where, data, method, "", *printed)
