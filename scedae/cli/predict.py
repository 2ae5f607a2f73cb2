"""``scedae predict``: its options. What it does is in ``predicting``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scedae.cli.messages import InputError
from scedae.cli.options import (
    Header,
    Layers,
    Proba,
    Separator,
    Sheet,
    numbers,
    separator,
)


def predict(
    model: Annotated[
        Path, typer.Argument(help="model.scedae of a run, or the folder of the run.")
    ],
    data: Annotated[
        list[str],
        typer.Argument(
            help="A file, or the name of a data set, as for fit; of a fit on several, "
            "all of them, or some as [bold]name=file[/]."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write, CSV or .parquet; else standard output, as CSV.",
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(help="Column that names the rows; else the one of the fit."),
    ] = None,
    keep_columns: Annotated[
        bool,
        typer.Option(
            "--keep-columns", help="Write the columns of DATA beside the labels."
        ),
    ] = False,
    proba: Proba = False,
    novelty: Annotated[
        bool,
        typer.Option(
            "--novelty",
            help="Write how far rows are from all rows of the fit: 1 is usual.",
        ),
    ] = False,
    reject: Annotated[
        float | None,
        typer.Option(
            help="Give label -1 to rows that are less sure than this share of the "
            "rows of the fit.",
            min=0,
            max=0.5,
        ),
    ] = None,
    layers: Layers = None,
    sep: Separator = None,
    header: Header = None,
    sheet: Sheet = None,
    device: Annotated[
        str, typer.Option(help="auto (a GPU where there is one), cpu or cuda.")
    ] = "auto",
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier file of labels.")
    ] = False,
    verbatim_ids: Annotated[
        bool,
        typer.Option(
            "--verbatim-ids",
            help="Write ids that look like formulas (=, +, -, @) without an "
            "apostrophe before them.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON (needs --out).")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress.")
    ] = False,
) -> None:
    """Put the rows of DATA into the clusters of a fitted model.

    Writes lines of id, label and confidence. Columns are found by the names
    they had when the model was fitted, and cells are read, filled and encoded
    as they were then; where there are no names, columns count by their place.
    Files are read in batches: they may be larger than memory.

    [bold]Example[/]

    scedae predict run/model.scedae new.parquet -o labels.csv --id-column barcode

    scedae predict run new.csv --keep-columns -o new_with_clusters.parquet

    scedae predict run new.csv --proba --reject 0.05 -o labels.csv
    """
    if as_json and out is None:
        raise InputError("--json needs --out: labels would stand beside the summary.")
    from scedae.cli.predicting import predict_file

    predict_file(
        model,
        data,
        out,
        id_column,
        device,
        {"separator": separator(sep), "header": header, "sheet": sheet},
        keep=keep_columns,
        more={"proba": proba, "novelty": novelty, "layers": numbers(layers)},
        reject=reject,
        force=force,
        as_json=as_json,
        quiet=quiet,
        verbatim_ids=verbatim_ids,
    )
