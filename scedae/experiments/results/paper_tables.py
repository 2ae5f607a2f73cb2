"""Cells as Markdown for people and CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import groupby

from scedae.experiments.results.cells import Cell, Measured
from scedae.experiments.specification import Specification

METHOD_TITLES = {
    "kmeans": "k-means++",
    "lsc": "LSC",
    "dae-kmeans": "DAE + k-means++",
    "dae-lsc": "DAE + LSC",
    "ens-init": "Ens.Init.",
    "ens-ep": "Ens.Ep.",
    "ens-struct": "Ens.Struct.",
    "ens-landmarks": "ensemble on landmarks",
    "dcn": "DCN, no pretraining",
    "idec": "IDEC, no pretraining",
    "dkm": "DKM, no pretraining",
    "dcn-pretrained": "DCN, pretrained",
    "idec-pretrained": "IDEC, pretrained",
    "dkm-pretrained": "DKM, pretrained",
    "sigmoid": "σ(Uσ(Wh))",
    "square": "σ(σ(Wh))²",
    "tangent": "tan(σ(Wh))",
}

_PLACE = ("table", "data", "variant", "method", "structure", "metric")
_NUMBERS = ("runs", "ours", "spread", "published", "published_spread", "difference")


def cells_csv(cells: Iterable[Cell]) -> str:
    """One line a cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_PLACE, *_NUMBERS, "verdict"])
    for cell in cells:
        printed = cell.published
        where = (printed.table, cell.data, cell.variant, printed.method)
        what = (printed.structure, printed.metric)
        theirs = (printed.mean, "" if printed.spread is None else printed.spread)
        difference = "" if cell.difference is None else f"{cell.difference:.2f}"
        writer.writerow(
            [*where, *what, *_numbers(cell.ours), *theirs, difference, cell.verdict]
        )
    return text.getvalue()


def _numbers(ours: Measured | None) -> tuple[str, str, str]:
    if ours is None:
        return "", "", ""
    return str(ours.n_runs), f"{ours.mean:.2f}", f"{ours.spread:.2f}"


def cells_markdown(cells: Sequence[Cell], specification: Specification) -> str:
    """A table for each data set: methods and structures down, metrics across."""
    parts = []
    titles = {key: entry.title for key, entry in specification.data.items()}
    keyed = sorted(cells, key=lambda cell: _place(cell, specification))
    for key, own in groupby(keyed, lambda cell: cell.data):
        parts.append(f"### {titles.get(key, key.capitalize())}\n\n{_grid(list(own))}")
    return "\n\n".join(parts)


def _place(cell: Cell, specification: Specification) -> int:
    order = [*specification.data, *specification.shapes.shapes]
    return order.index(cell.data)


def _grid(cells: Sequence[Cell]) -> str:
    metrics = list(dict.fromkeys(cell.published.metric for cell in cells))
    lines: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for cell in cells:
        key = (cell.published.method, cell.published.structure, cell.variant)
        lines.setdefault(key, {})[cell.published.metric] = cell
    heads = ["method", "runs"]
    for metric in metrics:
        heads += [f"{metric.upper()}, ours", "published", "difference"]
    body = [
        [method_title(*key), _runs(own.values()), *_entries(own, metrics)]
        for key, own in lines.items()
    ]
    return markdown_table(heads, body)


def method_title(method: str, structure: str, variant: str) -> str:
    name = METHOD_TITLES[method]
    if method in ("kmeans", "lsc"):
        variant = "on L2 rows" if variant else "on rows in [0, 1]"
    elif variant == "published":
        variant = "in the published units"
    return " ".join(part for part in (name, structure, variant) if part)


def _runs(cells: Iterable[Cell]) -> str:
    return next((str(cell.ours.n_runs) for cell in cells if cell.ours), "0")


def _entries(own: dict[str, Cell], metrics: Sequence[str]) -> list[str]:
    entries = []
    for metric in metrics:
        cell = own[metric]
        entries += [
            plus_minus(cell.ours) if cell.ours else "",
            str(cell.published),
            compared(cell),
        ]
    return entries


def plus_minus(ours: Measured) -> str:
    return f"{ours.mean:.2f} ± {ours.spread:.2f}"


def compared(cell: Cell) -> str:
    """The difference and where it puts us, e.g. "+2.62 above"."""
    if cell.difference is None:
        return cell.verdict
    text = f"{cell.difference:+.2f} {cell.verdict}"
    return f"**{text}**" if cell.verdict == "below" else text


def markdown_table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
