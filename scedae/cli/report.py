"""``scedae report``: its options. What it does is in ``page``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    from scedae.cli.page import remake_page

    remake_page(run, data)
