"""Results as a person reads them, on standard output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table as Grid


def show_grid(headings: list[str], lines: list[list[str]]) -> None:
    """A table without lines: the first column to the left, the others to the right."""
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for place, heading in enumerate(headings):
        grid.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for line in lines:
        grid.add_row(*line)
    Console(markup=False, highlight=False).print(grid)


def show_summary(run: dict[str, Any], folder: Path) -> None:
    """Clusters, scores and files of a fit."""
    data = run["data"]
    typer.echo(
        f"{data['n_rows']:,} rows of {data['n_columns']:,} columns in "
        f"{len(run['clusters'])} clusters, {run['seconds']['total']:.1f} s, "
        f"seed {run['seed']}"
    )
    show_grid(
        ["cluster", "rows", "confidence"],
        [
            [str(c["label"]), f"{c['rows']:,}", _share(c["confidence"])]
            for c in run["clusters"]
        ],
    )
    typer.echo(f"stability {run['stability']:.2f}{_evidence(run['candidates'])}")
    if "scores" in run:
        scores = (f"{name.upper()} {100 * s:.1f}" for name, s in run["scores"].items())
        typer.echo(f"{', '.join(scores)} against the labels")
    files = ", ".join(sorted(path.name for path in folder.iterdir()))
    typer.echo(f"written to {folder}: {files}")


def _evidence(candidates: list[dict[str, Any]]) -> str:
    """What was found besides, where the number of clusters was to be found."""
    if not candidates:
        return ""
    scores = [f"{each['n_clusters']} ({each['score']:.2f})" for each in candidates[:4]]
    return f"; clusters by score: {', '.join(scores)}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
