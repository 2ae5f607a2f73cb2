"""``scedae fit``: cluster a table and write everything into one folder."""

from __future__ import annotations

import json
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from scedae import SCEDAE
from scedae.cli.messages import InputError, errors_of, note, noted_warnings
from scedae.cli.output import (
    LABELS,
    MODEL,
    REPORT,
    RUN,
    new_folder,
    write_json,
    write_labels,
)
from scedae.cli.record import StageClock, describe_run
from scedae.cli.reports import write_page
from scedae.cli.sources import Source
from scedae.cli.summary import show_summary
from scedae.cli.tables import Choice, Table, read_table
from scedae.metrics import evaluate


class Preset(StrEnum):
    """Where parameters come from that are not given."""

    default = "default"
    paper = "paper"


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
            "What stands for parameters not given: the recipe of this package, or the "
            "settings of the publication."
        ),
    ] = Preset.default,
    effort: Annotated[
        Effort | None,
        _parameter("How much work: a first look, the recipe, or patience and a GPU."),
    ] = None,
    ensemble: Annotated[
        str | None, _parameter("structure, initialization, epochs or landmarks.")
    ] = None,
    members: Annotated[int | None, _parameter("Members of the ensemble.")] = None,
    epochs: Annotated[
        str | None, _parameter("Passes over the rows.", metavar="auto|N")
    ] = None,
    batch_size: Annotated[int | None, _parameter("Rows of one gradient step.")] = None,
    scale: Annotated[
        str | None,
        _parameter("auto, none, range, log, minmax, l2 or standard."),
    ] = None,
    n_landmarks: Annotated[
        str | None, _parameter("Landmarks of each member.", metavar="auto|N")
    ] = None,
    precision: Annotated[
        str | None, _parameter("auto, float32, tf32 or bfloat16.")
    ] = None,
    device: Annotated[
        str, _parameter("auto (a GPU where there is one), cpu or cuda.")
    ] = "auto",
    seed: Annotated[
        int | None,
        _parameter("Fixes the whole fit; else one is drawn and written down.", min=0),
    ] = None,
    force: Annotated[bool, _switch("--force", help="Replace an earlier run.")] = False,
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
    )
    make = SCEDAE.paper if preset is Preset.paper else SCEDAE
    model = make(clusters, device=device, verbose=int(not quiet), **parameters)
    source = Source(data)
    choice = Choice(_names(columns), _names(drop), id_column, labels)
    with new_folder(out, force=force) as folder:
        run = _run(model, source, choice, folder, report=not no_report)
    if as_json:
        typer.echo(json.dumps(run, ensure_ascii=False))
    else:
        show_summary(run, out)


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


def _run(
    model: SCEDAE, source: Source, choice: Choice, folder: Path, *, report: bool
) -> dict[str, Any]:
    """Read, fit, and fill the folder; the record of it all."""
    begun = time.perf_counter()
    with noted_warnings() as warnings, StageClock() as clock:
        clock.begin("read")
        table = read_table(source, choice)
        clock.begin("prepare")
        with errors_of(source.given):
            model.fit(table.rows)
        clock.begin("write")
        model.save(folder / MODEL)
        with (folder / LABELS).open("w", encoding="utf-8", newline="") as file:
            write_labels(file, [(table.ids, model.labels_, model.confidence_)])
        run = describe_run(model, source, choice, table)
        if table.labels is not None:
            run["scores"] = evaluate(table.labels, model.labels_)
        if report:
            clock.begin("report")
            run["seconds"] = clock.seconds()
            _report(model, table, folder / REPORT, run)
    total = round(time.perf_counter() - begun, 3)
    run["seconds"] = {**clock.seconds(), "total": total}
    run["warnings"] = warnings
    write_json(folder / RUN, run)
    return run


def _report(model: SCEDAE, table: Table, path: Path, run: dict[str, Any]) -> None:
    """The page is welcome, but whatever is wrong with it must not cost a fit."""
    try:
        write_page(model, table, path, run)
    except InputError as error:
        note(str(error))
    except OSError:  # a full disk: the rest could not be written either
        raise
    except Exception as error:
        path.unlink(missing_ok=True)
        note(f"no report could be made: {type(error).__name__}: {error}")
