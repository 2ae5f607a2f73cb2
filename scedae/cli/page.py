"""The report page: of a fit, and made again for an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import typer

from scedae import SCEDAE
from scedae.cli.messages import InputError, errors_of, noted_warnings
from scedae.cli.output import MODEL, REPORT, new_file
from scedae.cli.record import asked_of, read_record
from scedae.cli.several import load_views
from scedae.cli.sources import Source
from scedae.cli.tables import Table, load_table


def write_page(model: SCEDAE, table: Table, path: Path, run: dict[str, Any]) -> None:
    """Write report.html; ``InputError`` when this installation cannot."""
    try:
        from scedae.report import write_report
    except ImportError as error:
        raise InputError(f"no report could be made: {error}.") from error
    write_report(
        model,
        table.array,
        path,
        ids=table.ids,
        columns=table.names,
        true_labels=table.labels,
        about=None if table.about is None else _about(table.about),
        info=run,
    )


def _about(frame: pl.DataFrame) -> dict[str, Any]:
    """Columns as numpy has them, gaps as NaN, NaT or None."""
    return {column.name: column.to_numpy() for column in frame.iter_columns()}


def remake_page(run: Path, data: str | None) -> None:
    """What ``scedae report`` does; ``data`` says where the data lies now."""
    record = read_record(run)
    table = _same_views(record, data) if "views" in record else _same(record, data)
    with errors_of(str(run)):
        model = SCEDAE.load(run / MODEL)
    with noted_warnings(), new_file(run / REPORT, force=True) as path:
        write_page(model, table, path, record)
    typer.echo(str(run / REPORT))


def _same_views(record: dict[str, Any], data: str | None) -> Table:
    """The files of all views, which must lie where they lay."""
    if data is not None:
        raise InputError("--data names one file, and this run had several: fit again.")
    found = {}
    for view in record["views"]:
        found[view["name"]] = _unchanged(view, None)
    return load_views(found, *asked_of(record))


def _same(record: dict[str, Any], data: str | None) -> Table:
    return load_table(_unchanged(record["data"], data), *asked_of(record))


def _unchanged(known: dict[str, Any], data: str | None) -> Source:
    """A file that is the one of the fit."""
    try:
        source = Source(data or known["path"])
    except InputError as error:
        hint = "" if data else " If the data was moved, say where with --data PATH."
        raise InputError(f"{error}{hint}") from error
    if source.sha256() != known["sha256"]:
        raise InputError(
            f"{source.given} is not the data of this run: its SHA-256 differs from the "
            "one in run.json. Fit again, or give the original with --data PATH."
        )
    return source
