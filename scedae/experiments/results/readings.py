"""Readings of the paper, by how many cells of the ensembles each explains."""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scedae.experiments.results.cells import Cell, Measurements
from scedae.experiments.results.paper_tables import markdown_table, plus_minus
from scedae.experiments.results.published import Published, published_values
from scedae.experiments.specification import Specification, Variant


@dataclass(frozen=True)
class Explained:
    """One reading on one data set: the cells of Table 4 and its appendix."""

    data: str
    reading: Variant
    cells: list[Cell]

    @property
    def counts(self) -> Counter[str]:
        return _count(self.cells)

    @property
    def n_runs(self) -> str:
        """Of a cell: "10", or "6 to 7" where the runs were cut off."""
        counts = [cell.ours.n_runs for cell in self.cells if cell.ours]
        low, high = min(counts), max(counts)
        return str(high) if low == high else f"{low} to {high}"

    @property
    def spread_ratio(self) -> float:
        return _spread_ratio(self.cells)

    @property
    def spread_ratios(self) -> str:
        """By ensemble, in the order of the paper: "0.31 / 0.21 / 0.11"."""
        by_method: dict[str, list[Cell]] = {method: [] for method in _ENSEMBLES}
        for cell in self.cells:
            by_method[cell.published.method].append(cell)
        return " / ".join(
            f"{_spread_ratio(own):.2f}" if own else "-" for own in by_method.values()
        )

    @property
    def structure_ensemble(self) -> Cell:
        """ACC of Ens.Struct."""
        (found,) = (
            cell
            for cell in self.cells
            if (cell.published.method, cell.published.metric) == ("ens-struct", "acc")
        )
        return found


_ENSEMBLES = ("ens-init", "ens-ep", "ens-struct")


def _spread_ratio(cells: Sequence[Cell]) -> float:
    """Our mean spread over the printed one."""
    ours = statistics.fmean(cell.ours.spread for cell in cells if cell.ours)
    return ours / statistics.fmean(cell.published.band for cell in cells)


def find_explained(
    found: Measurements, specification: Specification
) -> list[Explained]:
    """Readings that were run whole; one that was cut off counts too few cells."""
    explained = []
    for data in specification.data:
        for reading in specification.readings.values():
            cells = _cells(found, specification, data, reading)
            if cells and all(cell.ours for cell in cells):
                explained.append(Explained(data, reading, cells))
    return explained


def _cells(
    found: Measurements, specification: Specification, data: str, reading: Variant
) -> list[Cell]:
    cells, wanted = [], ("ensembles", specification.data[data].published)
    for value in published_values():
        if value.method == "ens-init" and reading.initializations:
            continue  # too few networks for it
        if (value.name, value.data) == wanted:
            group = ("readings", data, value.method, value.structure, reading.name)
            ours = found.measured(value.metric, *group)
            cells.append(Cell(data, value, ours, reading.name))
    return cells


def readings_csv(explained: Sequence[Explained]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    verdicts = ["above", "inside", "below"]
    writer.writerow(["data", "question", "reading", "runs", *verdicts, "spread_ratio"])
    for each in explained:
        about = [each.data, each.reading.question, each.reading.name, each.n_runs]
        counts = [each.counts[verdict] for verdict in verdicts]
        writer.writerow([*about, *counts, f"{each.spread_ratio:.2f}"])
    return text.getvalue()


_RULE = (
    "Each reading changes what the paper leaves open, and all 13 ensembles of Table 4 "
    "are run with it: 39 cells of ACC, NMI and ARI a data set (21, where there is one "
    "network of each structure and so no Ens.Init.). A reading *explains* a "
    "cell when our mean lies inside the published mean ± the published spread. "
    "*Spread*: our mean ± over the printed one; 1 would be the paper's own. *As "
    "chosen* is what the other tables have, batches of 256 among it."
)


def readings_markdown(
    explained: Sequence[Explained], found: Measurements, specification: Specification
) -> str:
    """All data sets together, LSC on the rows, then each data set by itself."""
    parts = [_RULE, _together(explained, specification)]
    parts += _on_same_cells(explained, specification)
    parts += _on_rows(found, specification)
    for key, entry in specification.data.items():
        own = [each for each in explained if each.data == key]
        if own:
            parts.append(f"### {entry.title}\n\n{_grid(own)}")
    return "\n\n".join(parts)


def _together(explained: Sequence[Explained], specification: Specification) -> str:
    """Of readings that were run on the same data sets, which explains most."""
    keys = list(dict.fromkeys(each.data for each in explained))
    titles = [specification.data[key].title for key in keys]
    body = []
    for reading in specification.readings.values():
        own = {each.data: each for each in explained if each.reading == reading}
        if own:
            cells = [own[key].counts if key in own else None for key in keys]
            total = sum((each.counts for each in own.values()), Counter())
            shown = [_verdicts(count) if count else "" for count in cells]
            body.append([reading.question, reading.name, *shown, _verdicts(total)])
    return markdown_table(["open", "reading", *titles, "above / inside / below"], body)


_ON_SAME_CELLS = (
    "### On the same cells\n\nReadings that were run on all of these data sets, by "
    "the {n} cells that all of them have: with one network of each structure there is "
    "no Ens.Init. *Distance*: the mean of |ours - published|, in points."
)


def _on_same_cells(
    explained: Sequence[Explained], specification: Specification
) -> list[str]:
    """Nothing, where there are no two readings to compare."""
    reference = next(iter(specification.readings.values()))
    keys = [each.data for each in explained if each.reading == reference]
    compared: list[tuple[Variant, list[list[Cell]]]] = []
    for reading in specification.readings.values():
        own = {e.data: e.cells for e in explained if _are_alike(e.reading, reading)}
        if not reading.initializations and set(keys) <= set(own):
            compared.append((reading, [own[key] for key in keys]))
    if len(compared) < 2:
        return []
    common = set.intersection(
        *(
            {_place(cell) for cells in columns for cell in cells}
            for _, columns in compared
        )
    )
    body = []
    for reading, columns in compared:
        kept = [[c for c in cells if _place(c) in common] for cells in columns]
        together = [cell for cells in kept for cell in cells]
        distance = statistics.fmean(abs(cell.difference or 0) for cell in together)
        shown = [_verdicts(_count(cells)) for cells in [*kept, together]]
        body.append([reading.question, reading.name, *shown, f"{distance:.2f}"])
    titles = [specification.data[key].title for key in keys]
    heads = ["open", "reading", *titles, "above / inside / below", "distance"]
    return [_ON_SAME_CELLS.format(n=len(common)), markdown_table(heads, body)]


def _place(cell: Cell) -> tuple[str, Published]:
    return cell.data, cell.published


def _are_alike(one: Variant, other: Variant) -> bool:
    """Whether they differ at most in how many networks they train."""
    parts = ("training", "network", "tail", "averaged")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def _count(cells: Sequence[Cell]) -> Counter[str]:
    return Counter(cell.verdict for cell in cells)


_ON_ROWS = (
    "### LSC on the rows\n\nWhat comes after the networks can be tried without them: "
    "LSC on the rows (L2), over all landmark counts, ACC / NMI / ARI."
)


def _on_rows(found: Measurements, specification: Specification) -> list[str]:
    """Nothing, where it was not run."""
    lines: dict[str, dict[str, str]] = {}
    for data, entry in specification.data.items():
        printed = [
            value
            for value in published_values()
            if (value.name, value.data, value.method)
            == ("baselines", entry.published, "lsc")
        ]
        for name in specification.readings:
            group = ("readings", data, "lsc", "", name)
            ours = [found.measured(value.metric, *group) for value in printed]
            if all(ours):
                cells = [Cell(data, v, m) for v, m in zip(printed, ours, strict=True)]
                lines.setdefault("published", {})[data] = " / ".join(map(str, printed))
                lines.setdefault(name, {})[data] = " / ".join(map(_marked, cells))
    if not lines:
        return []
    keys = list(dict.fromkeys(key for own in lines.values() for key in own))
    heads = ["reading", *(specification.data[key].title for key in keys)]
    body = [[n, *(own.get(key, "") for key in keys)] for n, own in lines.items()]
    return [_ON_ROWS, markdown_table(heads, body), "In bold: inside the band."]


def _marked(cell: Cell) -> str:
    assert cell.ours is not None
    text = plus_minus(cell.ours)
    return f"**{text}**" if cell.verdict == "inside" else text


def _verdicts(count: Counter[str]) -> str:
    return " / ".join(str(count[verdict]) for verdict in ("above", "inside", "below"))


def _grid(explained: Sequence[Explained]) -> str:
    heads = ["open", "reading", "runs a cell", "above", "inside", "below", "spread"]
    heads.append("of Ens.Init. / Ep. / Struct.")
    printed = explained[0].structure_ensemble.published
    body = []
    for each in explained:
        ours = each.structure_ensemble.ours
        assert ours is not None
        line = [each.reading.question, each.reading.name, each.n_runs]
        line += [str(each.counts[v] or "") for v in ("above", "inside", "below")]
        line += [f"{each.spread_ratio:.2f}", each.spread_ratios]
        body.append([*line, plus_minus(ours)])
    return markdown_table([*heads, f"ACC of Ens.Struct. ({printed})"], body)
