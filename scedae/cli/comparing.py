"""Two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import typer

from scedae.cli.messages import InputError, note
from scedae.cli.output import LABELS, new_file
from scedae.cli.printing import show_grid


def compare_runs(
    first: Path, second: Path, out: Path | None, *, force: bool, as_json: bool
) -> None:
    """What ``scedae compare`` does."""
    both = _joined(first, second)
    try:
        from scedae.report.comparison import compare_labels, write_comparison
    except ImportError as error:
        raise InputError(f"runs cannot be compared: {error}") from error
    found = compare_labels(both["label"].to_numpy(), both["label_right"].to_numpy())
    if out is not None:
        with new_file(out, force=force) as path:
            write_comparison(found, path, (first.name, second.name))
    if as_json:
        summary = {
            "rows": found.n_rows,
            "ari": round(found.ari, 6),
            "nmi": round(found.nmi, 6),
            "moved": found.moved,
            "first": found.first,
            "second": found.second,
            "counts": found.counts.tolist(),
        }
        typer.echo(json.dumps(summary))
        return
    typer.echo(
        f"{found.n_rows:,} rows in both, ARI {found.ari:.3f}, NMI {found.nmi:.3f}; "
        f"{found.moved:,} rows move"
    )
    lines = zip(found.first, found.counts.tolist(), strict=True)
    show_grid(
        [f"{first.name} \\ {second.name}", *found.second],
        [[label, *(f"{c:,}" if c else "·" for c in row)] for label, row in lines],
    )


def _joined(first: Path, second: Path) -> pl.DataFrame:
    """Labels of the rows that both runs have, by their ids."""
    one, other = _labels(first), _labels(second)
    both = one.join(other, on="id", how="inner")
    if both.height == 0:
        raise InputError(f"{first} and {second} have no row in common, by their ids.")
    if left_out := one.height + other.height - 2 * both.height:
        note(f"{left_out:,} rows are in one run only, and left out.")
    return both


def _labels(run: Path) -> pl.DataFrame:
    path = run / LABELS
    if not path.is_file():
        raise InputError(f"{run} is no folder of a run: it has no {LABELS}.")
    try:
        frame = pl.read_csv(path, schema_overrides={"id": pl.String})
        return frame.select("id", "label").unique("id", maintain_order=True)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path} is damaged: {error}") from error
