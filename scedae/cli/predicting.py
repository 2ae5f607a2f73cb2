"""Clusters of new rows, a part of the table at a time."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import typer

from scedae import SCEDAE
from scedae._tables.keeping import from_text
from scedae.cli.choice import Reading
from scedae.cli.kept_columns import (
    PARQUET,
    Labelled,
    is_parquet_labels,
    write_csv,
    write_parquet,
)
from scedae.cli.messages import InputError, errors_of, note, noted_warnings
from scedae.cli.more_columns import More
from scedae.cli.output import MODEL, new_file, new_labels, refuse_unless
from scedae.cli.parts import Part, Wanted, read_parts
from scedae.cli.several import name_sources, read_views, sources_of_model
from scedae.cli.sources import Source


def predict_file(
    model: Path,
    data: Sequence[str],
    out: Path | None,
    id_column: str | None,
    device: str,
    reading: dict[str, Any],
    *,
    keep: bool,
    more: dict[str, Any],
    reject: float | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbatim_ids: bool,
) -> None:
    """What ``scedae predict`` does; ``keep`` writes the columns of the table too.

    ``more`` says what else is written of each row, ``reject`` which share of rows like
    those of the fit gets the label -1.
    """
    only = [Source(data[0])] if len(data) == 1 and "=" not in data[0] else []
    fitted = _load(model, device)
    several = _several(data, fitted, keep=keep)
    sources = list(several.values()) or only or [*name_sources(data).values()]
    asked = More(**more)
    asked.check(fitted)
    begun = time.perf_counter()
    counts: Counter[int] = Counter()
    inputs = [_model_file(model), *(file for each in sources for file in each.files)]
    with noted_warnings(), _target(out, force=force, inputs=inputs) as file:
        if several:
            found = read_views(several, fitted, id_column, Reading(**reading))
            answers = _predicted_views(
                fitted, sources, *found, counts, more=asked, reject=reject
            )
        else:
            with errors_of(str(model)):
                wanted = replace(_wanted(fitted), keep=keep)
            parts = read_parts(sources[0], wanted, id_column, Reading(**reading))
            answers = _predicted(
                fitted,
                sources[0],
                parts,
                counts,
                more=asked,
                reject=reject,
                quiet=quiet,
            )
        if isinstance(file, Path):
            write_parquet(file, answers)
        else:
            write_csv(file, answers, verbatim=verbatim_ids)
    n_rows, seconds = counts.total(), round(time.perf_counter() - begun, 3)
    if not quiet:
        note(f"{n_rows:,} rows in {seconds:.1f} s")
    if as_json:
        clusters = {str(label): counts[label] for label in sorted(counts)}
        summary = {
            "out": str(out),
            "n_rows": n_rows,
            "clusters": clusters,
            "seconds": seconds,
        }
        typer.echo(json.dumps(summary))


def _model_file(path: Path) -> Path:
    return path / MODEL if path.is_dir() else path


def _load(path: Path, device: str) -> SCEDAE:
    path = _model_file(path)
    with errors_of(str(path)):
        return SCEDAE.load(path, device=device)


@contextmanager
def _target(
    out: Path | None, *, force: bool, inputs: Sequence[Path]
) -> Iterator[IO[str] | Path]:
    """What is written to: a stream of text, or the name of a Parquet file."""
    if out is None:
        yield sys.stdout
        return
    if out.suffix.lower() == PARQUET:
        if force:
            refuse_unless(out, is_parquet_labels)
        with new_file(out, force=force, inputs=inputs) as path:
            yield path
        return
    with new_labels(out, force=force, inputs=inputs) as file:
        yield file


def _several(data: Sequence[str], model: SCEDAE, *, keep: bool) -> dict[str, Source]:
    """The files of the views at hand; none, where the model has one matrix."""
    if not hasattr(model, "views_"):
        if len(data) > 1:
            raise InputError("the model was fitted on one matrix: give one DATA.")
        return {}
    if keep:
        raise InputError("--keep-columns is for one DATA, not for several views.")
    return sources_of_model(data, model)


def _predicted_views(
    model: SCEDAE,
    sources: Sequence[Source],
    ids: np.ndarray,
    views: dict[str, Any],
    counts: Counter[int],
    *,
    more: More,
    reject: float | None,
) -> Iterator[Labelled]:
    with errors_of(", ".join(source.given for source in sources)):
        labels, confidence = model.predict_with_confidence(views, reject=reject)
        beside = more.of_rows(model, views)
    counts.update(labels.tolist())
    yield Labelled(ids, labels, confidence, None, beside)


def _predicted(
    model: SCEDAE,
    source: Source,
    parts: Iterator[Part],
    counts: Counter[int],
    *,
    more: More,
    reject: float | None,
    quiet: bool,
) -> Iterator[Labelled]:
    """The answer for each part, counted as they pass."""
    known, unknown = getattr(model, "feature_names_in_", None), Counter[str]()
    names = None if known is None else list(known)
    live = not quiet and sys.stderr.isatty()
    for part in parts:
        # The model wants the names it knows, also where the file has none.
        rows = part.rows if names is None else pl.DataFrame(part.rows, names)
        with errors_of(source.given):
            labels, confidence = model.predict_with_confidence(rows, reject=reject)
            beside = more.of_rows(model, rows)
        counts.update(labels.tolist())
        unknown.update(part.unknown)
        if live:
            sys.stderr.write(f"\r\x1b[2K{counts.total():,} rows")
        yield Labelled(part.ids, labels, confidence, part.kept, beside)
    if live:
        sys.stderr.write("\n")
    for name, count in unknown.items():
        note(
            f"column {name!r}: {count:,} cells are unlike all that the fit saw; they "
            "count as gaps."
        )


def _wanted(model: SCEDAE) -> Wanted:
    known = getattr(model, "feature_names_in_", None)
    names = None if known is None else list(known)
    learnt = from_text(model.table_) if hasattr(model, "table_") else None
    return Wanted(model.n_features_in_, names, learnt)
