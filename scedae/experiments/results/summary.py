"""``summary.md``: where we are above, inside and below, in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scedae.experiments.results.cells import VERDICTS, Cell
from scedae.experiments.results.tables import (
    compared,
    markdown_table,
    method_title,
    plus_minus,
)
from scedae.experiments.specification import Specification
from scedae.experiments.store import Record

SMALL = (
    "**This is the small version (`--quick`)**: {rows:,} rows at most, networks a "
    "tenth as wide, at most {epochs} epochs. It shows that everything runs; its "
    "numbers are no reproduction of the paper's."
)

_RULE = (
    "Means in percent over runs, ± standard deviation. *Inside*: our mean lies within "
    "the published mean ± the published spread; *above* and *below* else. The "
    "published value stands beside ours wherever there is one."
)


def summary(
    cells: Sequence[Cell],
    records: Sequence[Record],
    links: Sequence[tuple[str, str]],
    specification: Specification,
) -> str:
    """The whole page; ``links`` are titles and files of tables and figures."""
    parts = ["# The paper, reproduced"]
    if specification.is_quick:
        rows, epochs = specification.max_rows, specification.ensemble_epochs
        parts.append(SMALL.format(rows=rows, epochs=epochs))
    parts += [_RULE, _in_one_line(cells), _counts(cells, specification)]
    parts.append("\n".join(f"- [{title}]({file})" for title, file in links))
    parts += ["## Every cell below", _list(cells, "below", specification)]
    parts += ["## How it was run", _circumstances(records)]
    return "\n\n".join(parts) + "\n"


def _in_one_line(cells: Sequence[Cell]) -> str:
    count = Counter(cell.verdict for cell in cells)
    n_run = len(cells) - count["not run"]
    if n_run == 0:
        return "Nothing with a published value was run."
    shares = ", ".join(f"{count[v]} {v}" for v in VERDICTS[:3])
    rest = f" {count['not run']} were not run." if count["not run"] else ""
    return f"Of {n_run} cells that were run, **{shares}**.{rest}"


def _counts(cells: Sequence[Cell], specification: Specification) -> str:
    groups: dict[tuple[str, str], Counter[str]] = {}
    for cell in cells:
        key = (cell.published.name, _data_title(cell, specification))
        groups.setdefault(key, Counter())[cell.verdict] += 1
    body = [
        [name, data, *(str(count[verdict] or "") for verdict in VERDICTS)]
        for (name, data), count in groups.items()
    ]
    return markdown_table(["table", "data", *VERDICTS], body)


def _data_title(cell: Cell, specification: Specification) -> str:
    entry = specification.data.get(cell.data)
    return entry.title if entry else cell.data.capitalize()


def _list(cells: Iterable[Cell], verdict: str, specification: Specification) -> str:
    lines = []
    for cell in cells:
        if cell.verdict == verdict and cell.ours is not None:
            printed = cell.published
            what = method_title(printed.method, printed.structure, cell.variant)
            lines.append(
                f"- {printed.table}, {_data_title(cell, specification)}, {what}, "
                f"{printed.metric.upper()}: {plus_minus(cell.ours)} against "
                f"{printed}, {compared(cell)}"
            )
    return "\n".join(lines) or "None."


def _circumstances(records: Sequence[Record]) -> str:
    """Rows, devices, versions and time, as the records have them."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["experiment"], record["data"]), []).append(record)
    body = []
    for (experiment, data), own in groups.items():
        seconds = sum(record["seconds"] for record in own)
        rows = _distinct(f"{record['rows']:,}" for record in own)
        devices = _distinct(record["device"] for record in own)
        body.append([experiment, data, rows, str(len(own)), f"{seconds:,.0f}", devices])
    heads = ["experiment", "data", "rows", "records", "seconds, summed", "device"]
    versions = _distinct(
        ", ".join(f"{name} {number}" for name, number in record["versions"].items())
        for record in records
    )
    return f"{markdown_table(heads, body)}\n\nVersions: {versions}."


def _distinct(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))
