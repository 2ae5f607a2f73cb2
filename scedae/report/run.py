"""What is known of the run that made the model: a free record, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import PurePath
from typing import Any

# What the page tells elsewhere, from the model itself.
_TOLD_BY_THE_MODEL = {
    "estimator",
    "seed",
    "n_rows",
    "n_columns",
    "stability",
    "table",
    "warnings",
}
_HAVE_A_PLACE = {"data", "device", "seconds", "versions"}
_NAMES = {"path": "Data", "sha256": "SHA-256"}


@dataclass(frozen=True)
class Run:
    """The record, in the form in which the page shows it."""

    name: str | None  # of the data
    device: str | None
    seconds: dict[str, float]  # by stage; "total" for all of them
    versions: dict[str, str]
    warnings: list[str]  # what the fit warned of
    table: list[dict[str, Any]]  # what was done with each column of a table
    command: str | None  # that made the run
    notes: list[tuple[str, str]]  # anything else that is plain text or a number


def read_run(info: Mapping[str, Any]) -> Run:
    """Take what is there; nothing is required.

    ``data`` is a path, or a record with ``path`` and, for example, ``sha256``.
    ``seconds`` is a number, or numbers by stage.
    """
    data = info.get("data") or {}
    data = dict(data) if isinstance(data, Mapping) else {"path": data}
    seconds = info.get("seconds") or {}
    if not isinstance(seconds, Mapping):
        seconds = {"total": seconds}
    rest = {key: value for key, value in info.items() if key not in _HAVE_A_PLACE}
    return Run(
        name=PurePath(str(data["path"])).stem if data.get("path") else None,
        device=str(info["device"]) if info.get("device") else None,
        seconds={str(stage): float(taken) for stage, taken in seconds.items()},
        versions={str(k): str(v) for k, v in (info.get("versions") or {}).items()},
        warnings=[str(text) for text in info.get("warnings") or ()],
        table=list(info.get("table") or ()),
        command=str(info["command"]) if info.get("command") else None,
        notes=[
            (_NAMES.get(key, str(key).replace("_", " ").capitalize()), text)
            for key, value in {**data, **rest}.items()
            if key not in _TOLD_BY_THE_MODEL and (text := _plain(value))
        ],
    )


def _plain(value: Any) -> str:
    """Text of a simple value; nothing for a record, which the page cannot lay out."""
    if isinstance(value, str | Real | PurePath):
        return str(value)
    return ""
