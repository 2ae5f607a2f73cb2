"""NMI as it is usual, and over the geometric mean, which the paper refers to."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scedae.experiments.results.paper_tables import markdown_table
from scedae.experiments.store import Record


@dataclass(frozen=True)
class BothMeans:
    """Runs of one experiment and data set that were scored both ways, in percent."""

    experiment: str
    data: str
    n_runs: int
    arithmetic: float
    geometric: float
    largest: float  # difference of one run

    @property
    def fields(self) -> list[str]:
        numbers = (self.arithmetic, self.geometric, self.largest)
        about = [self.experiment, self.data, str(self.n_runs)]
        return [*about, *(f"{number:.2f}" for number in numbers)]


def find_both_means(records: Sequence[Record]) -> list[BothMeans]:
    """Records that are older have only one of them, and are left out."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for record in records:
        scores = record.get("scores", {})
        if "nmi_geometric" in scores:
            key = record["experiment"], record["data"]
            pair = 100 * scores["nmi"], 100 * scores["nmi_geometric"]
            groups.setdefault(key, []).append(pair)
    return [
        BothMeans(
            *key,
            len(pairs),
            statistics.fmean(usual for usual, _ in pairs),
            statistics.fmean(geometric for _, geometric in pairs),
            max(abs(usual - geometric) for usual, geometric in pairs),
        )
        for key, pairs in groups.items()
    ]


_HEADS = ["experiment", "data", "runs", "usual", "geometric", "largest difference"]

_ABOUT = (
    "NMI is mutual information over a mean of two entropies: the arithmetic one here "
    "and in scikit-learn today, the geometric one in the work that the paper cites. "
    "Runs that were scored both ways, in percent:"
)


def both_means_csv(found: Sequence[BothMeans]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([head.replace(" ", "_") for head in _HEADS])
    writer.writerows(each.fields for each in found)
    return text.getvalue()


def both_means_markdown(found: Sequence[BothMeans]) -> str:
    return f"{_ABOUT}\n\n{markdown_table(_HEADS, (each.fields for each in found))}"
