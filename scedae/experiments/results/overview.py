"""``summary.md``: where we are above, inside and below, in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scedae.experiments.results.cells import VERDICTS, Cell
from scedae.experiments.results.paper_tables import (
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


_OWN = (
    "Of **SC-EDAE itself** (every Ens. row of the tables, and the shapes), by data. "
    "The paper is not clear about how rows were scaled, so several scalings stand "
    "beside one published column."
)

_ALL = (
    "All cells, by the names of `scedae reproduce` (fcps: the shapes). Besides SC-EDAE "
    "there are k-means, landmark spectral clustering (LSC), both on the codes of one "
    "autoencoder (DAE), and DCN, IDEC and DKM."
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
    parts += [_RULE, _in_one_line(cells)]
    own = [cell for cell in cells if _is_ours(cell)]
    parts += [_OWN, _counts(own, specification, ["data"])]
    parts += [_ALL, _counts(cells, specification, ["name", "data"])]
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


def _is_ours(cell: Cell) -> bool:
    """A cell of the method the paper is about."""
    return cell.published.name == "fcps" or cell.published.method.startswith("ens-")


def _counts(
    cells: Sequence[Cell], specification: Specification, heads: Sequence[str]
) -> str:
    """How many cells are above, inside and below, in groups by some of their names."""
    groups: dict[tuple[str, ...], Counter[str]] = {}
    for cell in cells:
        data = _data_title(cell, specification)
        if cell.published.name == "fcps":
            _, scale, *batch = cell.variant.split("-")
            data += f", {scale}" + "".join(f", batches of {rows}" for rows in batch)
        names = {"name": cell.published.name, "data": data}
        key = tuple(names[head] for head in heads)
        groups.setdefault(key, Counter())[cell.verdict] += 1
    body = [
        [*key, *(str(count[verdict] or "") for verdict in VERDICTS)]
        for key, count in groups.items()
    ]
    return markdown_table([*heads, *VERDICTS], body)


def _data_title(cell: Cell, specification: Specification) -> str:
    entry = specification.data.get(cell.data)
    return entry.title if entry else cell.data.capitalize()


def _list(cells: Iterable[Cell], verdict: str, specification: Specification) -> str:
    """Every cell with this verdict, under the name of its data."""
    groups: dict[str, list[str]] = {}
    for cell in cells:
        if cell.verdict == verdict and cell.ours is not None:
            printed = cell.published
            what = method_title(printed.method, printed.structure, cell.variant)
            groups.setdefault(_data_title(cell, specification), []).append(
                f"- {printed.table}, {what}, {printed.metric.upper()}: "
                f"{plus_minus(cell.ours)} against {printed}, {compared(cell)}"
            )
    parts = [
        f"### {data}: {len(lines)}\n\n" + "\n".join(lines)
        for data, lines in groups.items()
    ]
    return "\n\n".join(parts) or "None."


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
