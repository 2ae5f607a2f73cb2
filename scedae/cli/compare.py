"""``scedae compare``: its options. What it does is in ``comparing``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    first: Annotated[Path, typer.Argument(help="Folder written by scedae fit.")],
    second: Annotated[Path, typer.Argument(help="Another, about the same rows.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Page to write, with the flow of rows."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the page if it exists.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Compare the clusters of two runs: how far they agree, and which rows move.

    Rows are matched by their ids; those that only one run has are left out
    and counted.

    [bold]Example[/]

    scedae compare march april -o moved.html
    """
    from scedae.cli.comparing import compare_runs

    compare_runs(first, second, out, force=force, as_json=as_json)
