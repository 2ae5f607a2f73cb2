"""``scedae reproduce``: its options. What it does is in ``reproducing``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scedae import experiments

# Parts of others, for machines without the command.
_PARTS = ("joint", "embedding")
_NAMES = [name for name in experiments.NAMES if name not in _PARTS]
_DATA = experiments.load_specification().data


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help=f"{', '.join(_NAMES)}; all if none."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(_DATA)}; all if not given."),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(help="Runs of each clustering; 10 as the paper.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write, or to go on with.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, minutes on a CPU.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the clusterings.")
    ] = None,
) -> None:
    """Run the paper's tables and figures again, beside the published values.

    Each number is written down as soon as it is there: stop at any moment,
    and the same command goes on where it was. With all of them there it
    only makes the tables and figures again. The folder gets summary.md,
    tables (Markdown and CSV), figures (PNG and SVG) and all records.

    [bold]Examples[/]

    scedae reproduce ensembles --data usps pendigits -o paper

    scedae reproduce --quick
    """
    given, keys = _sorted_out(names or [], data)
    from scedae.cli.reproducing import reproduce_paper

    reproduce_paper(
        given or _NAMES,
        data=keys,
        replicates=replicates,
        device=device,
        folder=out,
        quick=quick,
        workers=workers,
    )


def _sorted_out(
    names: Sequence[str], data: Sequence[str] | None
) -> tuple[list[str], list[str] | None]:
    """Names and data sets; ``--data a b`` leaves b among the names, ``a,b`` is one."""
    if data is None:
        return list(names), None
    keys = [key for text in data for key in text.split(",") if key]
    keys += [word for word in names if word in _DATA]
    return [word for word in names if word not in _DATA], list(dict.fromkeys(keys))
