"""Cluster a table and write everything into one folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from scedae import SCEDAE, View
from scedae._progress import one_bar
from scedae._table_pipeline import table_parameters
from scedae.cli.choice import Choice, Reading
from scedae.cli.kept_columns import Labelled, write_csv
from scedae.cli.messages import InputError, errors_of, note, noted_warnings, say
from scedae.cli.more_columns import More
from scedae.cli.output import (
    LABELS,
    MODEL,
    REPORT,
    RUN,
    new_folder,
    write_labels,
    write_record,
)
from scedae.cli.page import write_page
from scedae.cli.printing import show_summary
from scedae.cli.record import StageClock, describe_run
from scedae.cli.several import learnt_views, load_views, name_sources
from scedae.cli.sources import Source
from scedae.cli.tables import Table, load_table
from scedae.metrics import evaluate

# What is done beside the fit takes about so much of the bar, where a fit has 1.
_BESIDE = {"read": 0.02, "write": 0.01, "report": 0.06}


def cluster_table(
    data: Sequence[str],
    clusters: str | int,
    out: Path,
    parameters: dict[str, Any],
    *,
    published: bool,
    choice: dict[str, Any],
    reading: dict[str, Any],
    more: dict[str, Any],
    encoded: Sequence[str] = (),
    force: bool,
    verbatim_ids: bool,
    as_json: bool,
    report: bool,
) -> None:
    """What ``scedae fit`` does; ``published`` takes the settings of the paper."""
    sources = name_sources(data)
    verbose = bool(parameters.get("verbose"))
    asked = Asked(Choice(**choice), Reading(**reading), verbose, tuple(encoded))
    if wrong := [n for n in encoded if n not in sources or len(sources) == 1]:
        raise InputError(f"--encoded {wrong[0]}: there is no view of that name.")

    def build(table: Table) -> SCEDAE:
        if published:
            return SCEDAE.paper(clusters, **parameters)
        defaults = table_parameters(clusters, len(table.ids)) if table.is_mixed else {}
        return SCEDAE(clusters, **(defaults | parameters))

    inputs = [file for source in sources.values() for file in source.files]
    with new_folder(out, force=force, inputs=inputs) as folder:
        run = _run(
            build,
            sources,
            asked,
            folder,
            More(**more),
            report=report,
            verbatim_ids=verbatim_ids,
        )
    if as_json:
        typer.echo(json.dumps(run, ensure_ascii=False))
    else:
        show_summary(run, out)


@dataclass(frozen=True)
class Asked:
    """What the user says of the table, and whether he wants to see a bar."""

    choice: Choice
    reading: Reading
    verbose: bool
    encoded: tuple[str, ...] = ()  # views that another model has encoded


def _run(
    build: Callable[[Table], SCEDAE],
    sources: Mapping[str, Source],
    asked: Asked,
    folder: Path,
    more: More,
    *,
    report: bool,
    verbatim_ids: bool,
) -> dict[str, Any]:
    """Read, fit, and fill the folder; the record of it all."""
    begun = time.perf_counter()
    shares = _BESIDE if report else {**_BESIDE, "report": 0.0}
    with (
        noted_warnings() as warnings,
        StageClock() as clock,
        one_bar(asked.verbose, shares) as bar,
    ):
        bar.stage("read")
        table = _load(sources, asked)
        model = build(table)
        for name, source in sources.items():
            encoder = table.views.get(name, table).encoder
            if encoder is not None and asked.verbose:
                say(f"{source.given}: {encoder.summary()}")
        bar.stage("prepare")
        with errors_of(", ".join(source.given for source in sources.values())):
            model.fit(_to_fit(table, asked))
        if table.views:
            model.table_ = learnt_views(table.views, asked.reading)
        elif table.encoder is not None:
            model.table_ = table.learnt(asked.reading)
        bar.stage("write")
        model.save(folder / MODEL)
        _write_labels(folder / LABELS, model, table, more, verbatim=verbatim_ids)
        run = describe_run(model, sources, asked.choice, asked.reading, table)
        if table.labels is not None:
            run["scores"] = evaluate(table.labels, model.labels_)
        if report:
            bar.stage("report")
            run["seconds"] = clock.seconds()
            run["warnings"] = list(warnings)
            _report(model, table, folder / REPORT, run)
    total = round(time.perf_counter() - begun, 3)
    run["seconds"] = {**clock.seconds(), "total": total}
    run["warnings"] = warnings
    write_record(folder / RUN, run)
    return run


def _write_labels(
    path: Path, model: SCEDAE, table: Table, more: More, *, verbatim: bool
) -> None:
    beside = more.of_fit(model)
    answer = table.ids, model.labels_, model.confidence_
    with path.open("w", encoding="utf-8", newline="") as file:
        if beside is None:
            write_labels(file, [answer], verbatim=verbatim)
        else:
            write_csv(file, [Labelled(*answer, more=beside)], verbatim=verbatim)


def _load(sources: Mapping[str, Source], asked: Asked) -> Table:
    if len(sources) > 1:
        return load_views(sources, asked.choice, asked.reading)
    (source,) = sources.values()
    return load_table(source, asked.choice, asked.reading)


def _to_fit(table: Table, asked: Asked) -> Any:
    if not table.views:
        return table.rows
    return {
        name: View(view.rows, train=name not in asked.encoded)
        for name, view in table.views.items()
    }


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
