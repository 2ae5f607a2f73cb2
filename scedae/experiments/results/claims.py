"""The sentences of the paper that compare, held against its print and our records."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scedae.experiments.results.cells import EXPERIMENT_OF, Measured, Measurements
from scedae.experiments.results.paper_tables import METHOD_TITLES, markdown_table
from scedae.experiments.results.published import published_values
from scedae.experiments.specification import Specification, read_file, structure_name

# Spreads are "of similar magnitude" when neither is more than so many times the other.
_SIMILAR = 2.0

# Values of one method with one metric on one data set, a pair for each structure.
Lookup = Callable[[str, str], list[Measured]]

_NUMBERS: dict[str, Callable[[list[Measured]], float]] = {
    "mean": lambda own: statistics.fmean(m.mean for m in own),
    "spread": lambda own: statistics.fmean(m.spread for m in own),
    "best": lambda own: max(m.mean for m in own),
    "range": lambda own: max(m.mean for m in own) - min(m.mean for m in own),
}


@dataclass(frozen=True)
class Claim:
    """A sentence, and what has to hold for it; ``paper.toml`` explains the fields."""

    section: str
    sentence: str
    left: Sequence[str]
    right: Sequence[str]
    of: tuple[str, str]  # what is compared, left and right
    relation: str  # ">", "<" or "~"
    metrics: Sequence[str] = ("acc",)
    data: Sequence[str] = ("mnist", "pendigits", "usps")

    @property
    def words(self) -> str:
        """What is compared, in short: "mean of LSC > mean of k-means++"."""
        sides = (
            f"{of} of {' and '.join(METHOD_TITLES[method] for method in methods)}"
            for of, methods in zip(self.of, (self.left, self.right), strict=True)
        )
        return f" {self.relation} ".join(sides)


@dataclass(frozen=True)
class Answer:
    """The two numbers of a claim, and whether it holds."""

    left: float
    right: float
    holds: bool

    def __str__(self) -> str:
        word = "holds" if self.holds else "**does not**"
        return f"{self.left:.2f}, {self.right:.2f}: {word}"


@dataclass(frozen=True)
class Checked:
    """A claim with one metric on one data set."""

    claim: Claim
    data: str
    metric: str
    in_print: Answer | None
    ours: Answer | None


def read_claims() -> list[Claim]:
    return [Claim(**entry) for entry in map(_with_two_sides, read_file()["claims"])]


def _with_two_sides(entry: dict[str, Any]) -> dict[str, Any]:
    """``of`` may be one word for both sides."""
    of = entry["of"]
    return {**entry, "of": (of, of) if isinstance(of, str) else tuple(of)}


def check_claims(found: Measurements, specification: Specification) -> list[Checked]:
    """Every claim on every data set that it speaks of and that was run."""
    return [
        Checked(claim, key, metric, _answer(claim, metric, printed), ours)
        for claim in read_claims()
        for key, entry in specification.data.items()
        if entry.published in claim.data
        for printed in [partial(_printed, entry.published)]
        for metric in claim.metrics
        if (ours := _answer(claim, metric, partial(_run, found, specification, key)))
    ]


def _answer(claim: Claim, metric: str, values: Lookup) -> Answer | None:
    """None when something that the claim speaks of is not there."""
    sides = []
    for methods, of in zip((claim.left, claim.right), claim.of, strict=True):
        own = [values(method, metric) for method in methods]
        if not all(own):
            return None
        sides.append([_NUMBERS[of](each) for each in own])
    # Several methods on a side: the one for which the claim is hardest; but a side
    # that boasts of its best may choose.
    low, high = (max, min) if claim.relation == "<" else (min, max)
    left = max(sides[0]) if claim.of[0] == "best" else low(sides[0])
    right = high(sides[1])
    return Answer(left, right, _holds(left, right, claim.relation))


def _holds(left: float, right: float, relation: str) -> bool:
    if relation == "~":
        return max(left, right) <= _SIMILAR * min(left, right)
    return left > right if relation == ">" else left < right


def _printed(data: str, method: str, metric: str) -> list[Measured]:
    values = [
        value
        for value in published_values()
        if (value.data, value.method, value.metric) == (data, method, metric)
        # The comparison repeats the other tables, apart from the joint methods.
        and value.name == ("comparison" if _is_joint(method) else _table(method))
    ]
    return [Measured(value.mean, value.spread or 0.0, 10) for value in values]


def _run(
    found: Measurements,
    specification: Specification,
    key: str,
    method: str,
    metric: str,
) -> list[Measured]:
    variant = ""
    if method in ("kmeans", "lsc"):  # on rows as networks see them
        variant = specification.data[key].row_variants[-1]
    structures = ["", *map(structure_name, specification.structures)]
    there = [
        found.measured(metric, _table(method), key, method, structure, variant)
        for structure in structures
    ]
    return [measured for measured in there if measured is not None]


def _table(method: str) -> str:
    return EXPERIMENT_OF.get(method, "joint")


def _is_joint(method: str) -> bool:
    return method not in EXPERIMENT_OF


def claims_csv(checked: Sequence[Checked]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    sides = ["left", "right", "holds"]
    writer.writerow(
        ["section", "claim", "data", "metric"]
        + [f"print_{side}" for side in sides]
        + [f"ours_{side}" for side in sides]
    )
    for each in checked:
        numbers = [n for answer in (each.in_print, each.ours) for n in _fields(answer)]
        claim = each.claim
        writer.writerow([claim.section, claim.words, each.data, each.metric, *numbers])
    return text.getvalue()


def _fields(answer: Answer | None) -> list[str]:
    if answer is None:
        return ["", "", ""]
    return [f"{answer.left:.2f}", f"{answer.right:.2f}", str(answer.holds).lower()]


def claims_markdown(checked: Sequence[Checked], specification: Specification) -> str:
    """How many hold, then every sentence with its numbers."""
    parts = [_RULE, _counts(checked, specification)]
    for claim in dict.fromkeys(id(each.claim) for each in checked):
        own = [each for each in checked if id(each.claim) == claim]
        parts.append(_one(own, specification))
    return "\n\n".join(parts)


_RULE = (
    "Each sentence of the paper that compares, as two numbers to compare: first in "
    "the paper's own tables, then in our records (in percent). A *mean* or *spread* of "
    "a method is its mean over the structures, *best* is the best structure, *range* "
    "the best less the worst one. Where a side names several methods, the claim must "
    "hold for each; of the best, for one. *~*: neither is more than twice the other."
)


def _counts(checked: Sequence[Checked], specification: Specification) -> str:
    body = []
    for key, entry in specification.data.items():
        own = [each for each in checked if each.data == key]
        if own:
            in_print = [each.in_print for each in own if each.in_print]
            ours = [each.ours for each in own if each.ours]
            body.append([entry.title, _share(in_print), _share(ours)])
    return markdown_table(["data", "hold in print", "hold here"], body)


def _share(answers: Sequence[Answer]) -> str:
    return f"{sum(answer.holds for answer in answers)} of {len(answers)}"


def _one(checked: Sequence[Checked], specification: Specification) -> str:
    claim = checked[0].claim
    body = list(_lines(checked, specification))
    return (
        f"### {claim.section}: “{claim.sentence}”\n\n{claim.words}\n\n"
        + markdown_table(["data", "metric", "in print", "here"], body)
    )


def _lines(
    checked: Sequence[Checked], specification: Specification
) -> Iterator[list[str]]:
    for each in checked:
        answers = [
            str(answer or "not printed") for answer in (each.in_print, each.ours)
        ]
        yield [specification.data[each.data].title, each.metric.upper(), *answers]
