"""``scedae datasets``: its options. What it does is in ``listing``."""

from __future__ import annotations

from typing import Annotated

import typer


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Data set to fetch and verify.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the data sets, or fetch and verify one.

    Files are looked for in the folder named by SCEDAE_DATA, then in the
    user's cache; some can be fetched from OpenML. The list says "verified"
    where the numbers in the file have the checksum they should have.

    [bold]Examples[/]

    scedae datasets

    scedae datasets usps
    """
    from scedae.cli.listing import list_datasets

    list_datasets(name, as_json=as_json)
