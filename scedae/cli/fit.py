"""``scedae fit``: its options. What it does is in ``fitting``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scedae.cli.messages import InputError
from scedae.cli.options import (
    Header,
    Layers,
    Proba,
    Separator,
    Sheet,
    names,
    numbers,
    reading_option,
    separator,
)


class Preset(StrEnum):
    """Where parameters come from that are not given."""

    default = "default"
    paper = "paper"


# Those that ``SCEDAE`` takes, written again: its own are dear to import. A test
# compares them.
EnsembleName = Literal["structure", "initialization", "epochs", "landmarks"]
ScaleName = Literal[
    "auto", "none", "raw", "range", "log", "minmax", "l2", "standard", "power"
]
PrecisionName = Literal["auto", "float32", "tf32", "bfloat16"]
EffortName = Literal["fast", "default", "best"]
Decimal = Literal["auto", ".", ","]
Impute = Literal["median", "mean", "zero", "flag"]


def _number_of_clusters(text: str) -> str | int:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is neither 'auto' nor 1 or more.")
    return int(text)


def _column(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel="Columns", **more)


def _parameter(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel="Parameters", **more)


def _switch(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Output")


def fit(
    data: Annotated[
        list[str],
        typer.Argument(
            help="A file (.csv, .tsv, .txt, also .gz and .zst of them, .parquet, "
            ".feather, .arrow, .xlsx, .h5ad, .npy, .npz), [bold]-[/] for standard "
            "input, or the name of a data set (see [bold]scedae datasets[/]). Several "
            "are views of the same rows, as [bold]image=a.npy text=b.csv[/]."
        ),
    ],
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            parser=_number_of_clusters,
            metavar="auto|N",
            help="Number of clusters; [bold]auto[/] finds one from 2 to 30.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write; it must not exist.")
    ],
    columns: Annotated[
        str | None,
        _column(
            "Columns to cluster, as a,b,c; all if not given. Where columns have no "
            "names, they count from 0."
        ),
    ] = None,
    ignore: Annotated[
        str | None,
        typer.Option(
            "--ignore",
            "--drop",
            help="Columns to leave out, as a,b,c.",
            rich_help_panel="Columns",
        ),
    ] = None,
    describe: Annotated[
        str | None,
        _column("Columns that describe clusters in the report, but are not clustered."),
    ] = None,
    numeric: Annotated[
        str | None, _column("Columns to take for numbers, whatever they look like.")
    ] = None,
    categorical: Annotated[
        str | None, _column("Columns to take for categories: codes, for example.")
    ] = None,
    id_column: Annotated[
        str | None,
        _column("Column that names the rows; else the first that looks like an id."),
    ] = None,
    encoded: Annotated[
        str | None,
        _column(
            "Views, as a,b, that another model has encoded: no network is trained on "
            "them."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        _column(
            "Column with known classes (array of an .npz, 'known' for a data set). "
            "Used to score, never to fit."
        ),
    ] = None,
    na_values: Annotated[
        str | None,
        reading_option(help="More words that stand for a gap, as -999,unknown."),
    ] = None,
    impute: Annotated[
        Impute,
        reading_option(
            help="What a gap among numbers becomes; [bold]flag[/] marks gaps as well."
        ),
    ] = "median",
    sep: Separator = None,
    decimal: Annotated[
        Decimal, reading_option(help="What stands before decimals.")
    ] = "auto",
    header: Header = None,
    sheet: Sheet = None,
    preset: Annotated[
        Preset,
        _parameter(
            "Which defaults: the recipe of this package, or the settings of the paper."
        ),
    ] = Preset.default,
    effort: Annotated[
        EffortName | None,
        _parameter("How much work: a first look, the recipe, or patience and a GPU."),
    ] = None,
    ensemble: Annotated[
        EnsembleName | None, _parameter("What the members differ in.")
    ] = None,
    members: Annotated[int | None, _parameter("Members of the ensemble.")] = None,
    epochs: Annotated[
        str | None, _parameter("Passes over the rows.", metavar="auto|N")
    ] = None,
    batch_size: Annotated[int | None, _parameter("Rows of one gradient step.")] = None,
    scale: Annotated[
        ScaleName | None,
        _parameter("How columns are brought into one range."),
    ] = None,
    n_landmarks: Annotated[
        str | None, _parameter("Landmarks of each member.", metavar="auto|N")
    ] = None,
    precision: Annotated[
        PrecisionName | None, _parameter("How products of training are rounded.")
    ] = None,
    refine: Annotated[
        bool | None,
        _parameter(
            "Whether a network that learns from the ensemble has the last word; "
            "by default from 600 rows on, unless --effort is fast."
        ),
    ] = None,
    device: Annotated[
        str, _parameter("auto (a GPU where there is one), cpu or cuda.")
    ] = "auto",
    seed: Annotated[
        int | None,
        _parameter("Fixes the whole fit; else one is drawn and written down.", min=0),
    ] = None,
    force: Annotated[bool, _switch("--force", help="Replace an earlier run.")] = False,
    verbatim_ids: Annotated[
        bool,
        _switch(
            "--verbatim-ids",
            help="Write ids that look like formulas (=, +, -, @) without an "
            "apostrophe before them.",
        ),
    ] = False,
    proba: Proba = False,
    layers: Layers = None,
    as_json: Annotated[
        bool, _switch("--json", help="Print the record of the run as JSON.")
    ] = False,
    quiet: Annotated[bool, _switch("--quiet", "-q", help="Show no progress.")] = False,
    no_report: Annotated[
        bool, _switch("--no-report", help="Make no report page.")
    ] = False,
) -> None:
    """Cluster the rows of DATA and write the answer into a folder.

    A table may have numbers, dates, categories, free text, ids and gaps: what
    is done with each column is printed, and done again by predict.

    The folder gets labels.csv (id, label, confidence), model.scedae for
    [bold]scedae predict[/], run.json with all that is needed to repeat the
    run, and the page report.html. Progress goes to standard error, the
    summary to standard output.

    [bold]Examples[/]

    scedae fit digits -k 10 -o run --labels known --seed 0

    scedae fit customers.csv -k 5 -o run --describe plan --na-values -999

    scedae fit cells.csv -k auto -o look --effort fast

    scedae fit image=pixels.npy text=vectors.npy -k 10 -o run --encoded text
    """
    parameters = _given(
        effort=effort,
        ensemble=ensemble,
        n_members=members,
        epochs=_auto_or_number("--epochs", epochs),
        batch_size=batch_size,
        scale=scale,
        n_landmarks=_auto_or_number("--n-landmarks", n_landmarks),
        precision=precision,
        refine=refine,
        random_state=seed,
        device=device,
        verbose=int(not quiet),
    )
    from scedae.cli.fitting import cluster_table

    cluster_table(
        data,
        clusters,
        out,
        parameters,
        published=preset is Preset.paper,
        choice={
            "columns": names(columns),
            "drop": names(ignore),
            "id_column": id_column,
            "labels": labels,
            "describe": names(describe),
            "numeric": names(numeric),
            "categorical": names(categorical),
        },
        reading={
            "separator": separator(sep),
            "header": header,
            "decimal": decimal,
            "na_values": names(na_values),
            "impute": impute,
            "sheet": sheet,
        },
        more={"proba": proba, "layers": numbers(layers)},
        encoded=names(encoded),
        force=force,
        verbatim_ids=verbatim_ids,
        as_json=as_json,
        report=not no_report,
    )


def _given(**parameters: Any) -> dict[str, Any]:
    """The parameters that have a value; the rest is up to the preset."""
    return {name: value for name, value in parameters.items() if value is not None}


def _auto_or_number(option: str, text: str | None) -> str | int | None:
    if text is None or text == "auto":
        return text
    if not text.isdecimal():
        raise InputError(f"{option} {text!r} is neither 'auto' nor a whole number.")
    return int(text)
