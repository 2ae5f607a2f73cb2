"""Which data sets there are, and fetch one."""

from __future__ import annotations

import json
from typing import Any

import typer

from scedae import datasets as known
from scedae.cli.messages import errors_of, noted_warnings
from scedae.cli.printing import show_grid
from scedae.exceptions import ChecksumError


def list_datasets(name: str | None, *, as_json: bool) -> None:
    """What ``scedae datasets`` does."""
    if name is not None:
        with errors_of(name), noted_warnings():
            known.load_by_name(name)
    lines = [_state(known.describe(n)) for n in ([name] if name else known.NAMES)]
    if as_json:
        typer.echo(json.dumps(lines[0] if name else lines))
        return
    headings = ["name", "rows", "columns", "classes", "state"]
    show_grid(headings, [_cells(line) for line in lines])


def _state(info: known.DatasetInfo) -> dict[str, Any]:
    state = "absent"
    if info.embedded:
        state = "embedded"
    elif info.file is not None:
        try:
            known.load_by_name(info.name)
            state = "verified"
        except ChecksumError:
            state = "damaged"
    return {
        "name": info.name,
        "rows": info.n_rows,
        "columns": info.n_columns,
        "classes": info.n_classes,
        "state": state,
        "file": None if info.file is None else str(info.file),
    }


def _cells(line: dict[str, Any]) -> list[str]:
    return [
        line["name"],
        f"{line['rows']:,}",
        str(line["columns"]),
        str(line["classes"]),
        line["state"],
    ]
