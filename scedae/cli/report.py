"""``scedae report``: make the page of an earlier run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scedae import SCEDAE
from scedae.cli.messages import InputError, errors_of, noted_warnings
from scedae.cli.output import MODEL, REPORT, new_file
from scedae.cli.record import choice_of, read_run
from scedae.cli.reports import write_page
from scedae.cli.sources import Source
from scedae.cli.tables import read_table


def report(
    run: Annotated[Path, typer.Argument(help="Folder written by scedae fit.")],
    data: Annotated[
        str | None, typer.Option(help="Where the data lies now, if it was moved.")
    ] = None,
) -> None:
    """Make report.html of a run again, from its model and the same data.

    The data is found by the path in run.json, and must not have changed
    since the fit.

    [bold]Example[/]

    scedae report run --data /archive/cells.csv
    """
    record = read_run(run)
    known = record["data"]
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
    with errors_of(str(run)):
        model = SCEDAE.load(run / MODEL)
    table = read_table(source, choice_of(record))
    with noted_warnings(), new_file(run / REPORT, force=True) as path:
        write_page(model, table, path, record)
    typer.echo(str(run / REPORT))
