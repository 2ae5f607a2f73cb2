"""``scedae fit``: its options. What it does is in ``fitting``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scedae.cli.messages import InputError


class Preset(StrEnum):
    """Where parameters come from that are not given."""

    default = "default"
    paper = "paper"


# Those that ``SCEDAE`` takes, written again: its own are dear to import. A test
# compares them.
Ensemble = Literal["structure", "initialization", "epochs", "landmarks"]
Scale = Literal["auto", "none", "range", "log", "minmax", "l2", "standard"]
Precision = Literal["auto", "float32", "tf32", "bfloat16"]


class Effort(StrEnum):
    """How much work the recipe asks for."""

    fast = "fast"
    default = "default"
    best = "best"


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
        str,
        typer.Argument(
            help="A file (.csv, .tsv, .parquet, .npy, .npz), or the name of a data set "
            "(see [bold]scedae datasets[/])."
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
    drop: Annotated[str | None, _column("Columns to leave out, as a,b,c.")] = None,
    id_column: Annotated[
        str | None,
        _column("Column that names the rows; else they are numbered from 0."),
    ] = None,
    labels: Annotated[
        str | None,
        _column(
            "Column with known classes (array of an .npz, 'known' for a data set). "
            "Used to score, never to fit."
        ),
    ] = None,
    preset: Annotated[
        Preset,
        _parameter(
            "Which defaults: the recipe of this package, or the settings of the paper."
        ),
    ] = Preset.default,
    effort: Annotated[
        Effort | None,
        _parameter("How much work: a first look, the recipe, or patience and a GPU."),
    ] = None,
    ensemble: Annotated[
        Ensemble | None, _parameter("What the members differ in.")
    ] = None,
    members: Annotated[int | None, _parameter("Members of the ensemble.")] = None,
    epochs: Annotated[
        str | None, _parameter("Passes over the rows.", metavar="auto|N")
    ] = None,
    batch_size: Annotated[int | None, _parameter("Rows of one gradient step.")] = None,
    scale: Annotated[
        Scale | None,
        _parameter("How columns are brought into one range."),
    ] = None,
    n_landmarks: Annotated[
        str | None, _parameter("Landmarks of each member.", metavar="auto|N")
    ] = None,
    precision: Annotated[
        Precision | None, _parameter("How products of training are rounded.")
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
    as_json: Annotated[
        bool, _switch("--json", help="Print the record of the run as JSON.")
    ] = False,
    quiet: Annotated[bool, _switch("--quiet", "-q", help="Show no progress.")] = False,
    no_report: Annotated[
        bool, _switch("--no-report", help="Make no report page.")
    ] = False,
) -> None:
    """Cluster the rows of DATA and write the answer into a folder.

    The folder gets labels.csv (id, label, confidence), model.scedae for
    [bold]scedae predict[/], run.json with all that is needed to repeat the
    run, and the page report.html. Progress goes to standard error, the
    summary to standard output.

    [bold]Examples[/]

    scedae fit digits -k 10 -o run --labels known --seed 0

    scedae fit cells.csv -k 6 -o cells --id-column barcode --drop batch,donor

    scedae fit cells.csv -k auto -o look --effort fast
    """
    parameters = _given(
        effort=effort and effort.value,
        ensemble=ensemble,
        n_members=members,
        epochs=_auto_or_number("--epochs", epochs),
        batch_size=batch_size,
        scale=scale,
        n_landmarks=_auto_or_number("--n-landmarks", n_landmarks),
        precision=precision,
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
        columns=_names(columns),
        drop=_names(drop),
        id_column=id_column,
        labels=labels,
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


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()
