"""Records of the quality benchmark as Markdown: data sets x recipes, and ranks."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scipy.stats import rankdata

Record = dict[str, Any]
Cells = dict[tuple[str, str], list[float]]  # (data, recipe) → a value for each seed

REFERENCE = "kmeans"
SCORES = ("acc", "nmi", "ari")


def in_order(records: list[Record], key: str) -> list[str]:
    """Names as they first occur."""
    return list(dict.fromkeys(record[key] for record in records))


def cells(records: list[Record], quantity: str) -> Cells:
    found: Cells = {}
    for record in records:
        key = record["data"], record["recipe"]
        found.setdefault(key, []).append(record[quantity])
    return found


def mean_ranks(means: dict[tuple[str, str], float]) -> dict[str, float]:
    """Mean rank of each recipe over all data sets, 1 for the best; ties share theirs.

    Where a recipe has no answer it is last: a user would have none either.
    """
    data = dict.fromkeys(d for d, _ in means)
    recipes = list(dict.fromkeys(r for _, r in means))
    ranks = [
        rankdata([-means.get((d, r), -float("inf")) for r in recipes]) for d in data
    ]
    return {
        recipe: float(statistics.mean(column))
        for recipe, column in zip(recipes, zip(*ranks, strict=True), strict=True)
    }


def worst_deficits(
    means: dict[tuple[str, str], float],
) -> dict[str, tuple[float, str]]:
    """By how much, and where, each recipe is furthest below k-means.

    Negative where it is above on every set; k-means itself, and recipes that share no
    set with it, are left out.
    """
    deficits: dict[str, tuple[float, str]] = {}
    for (data, recipe), mean in means.items():
        if recipe != REFERENCE and (data, REFERENCE) in means:
            deficit = means[data, REFERENCE] - mean, data
            deficits[recipe] = max(deficits.get(recipe, deficit), deficit)
    return deficits


def spread(values: list[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


def _row(first: str, rest: Iterable[str]) -> str:
    return f"| {first} | {' | '.join(rest)} |"


def _grid(head: str, recipes: list[str], body: list[str]) -> str:
    return "\n".join([_row(head, recipes), "|---" * (len(recipes) + 1) + "|", *body])


def scores(records: list[Record], score: str) -> str:
    """Mean ± standard deviation over seeds, then ranks and deficits."""
    data, recipes = in_order(records, "data"), in_order(records, "recipe")
    values = cells(records, score)
    # Ranked as printed: a hundredth of a point is nobody's lead.
    means = {key: round(statistics.mean(v), 1) for key, v in values.items()}

    def cell(d: str, r: str) -> str:
        seeds = values.get((d, r))
        return f"{statistics.mean(seeds):.1f} ± {spread(seeds):.1f}" if seeds else ""

    ranks, deficits = mean_ranks(means), worst_deficits(means)
    body = [_row(d, (cell(d, r) for r in recipes)) for d in data]
    body.append(_row("**mean rank**", (f"{ranks[r]:.2f}" for r in recipes)))
    below = (
        f"{deficits[r][0]:.1f} ({deficits[r][1]})" if r in deficits else ""
        for r in recipes
    )
    body.append(_row(f"**most below {REFERENCE}**", below))
    return _grid(score.upper(), recipes, body)


def ranks_of_halves(records: list[Record], halves: Mapping[str, Sequence[str]]) -> str:
    """Mean ranks on each half of the data sets, and on all of them."""
    recipes = in_order(records, "recipe")
    body = []
    for score in SCORES:
        means = {
            key: round(statistics.mean(v), 1)
            for key, v in cells(records, score).items()
        }
        everything = {"all": in_order(records, "data")}
        for name, data in {**halves, **everything}.items():
            ranks = mean_ranks({k: mean for k, mean in means.items() if k[0] in data})
            if ranks:
                values = (f"{ranks[r]:.2f}" if r in ranks else "" for r in recipes)
                body.append(_row(f"{score.upper()}, {name}", values))
    return _grid("mean rank", recipes, body)


def costs(
    records: list[Record],
    quantity: str,
    over_seeds: Callable[[list[float]], float],
    digits: int,
) -> str:
    data, recipes = in_order(records, "data"), in_order(records, "recipe")
    values = cells([r for r in records if r.get(quantity) is not None], quantity)

    def cell(d: str, r: str) -> str:
        seeds = values.get((d, r))
        return f"{over_seeds(seeds):,.{digits}f}" if seeds else ""

    body = [_row(d, (cell(d, r) for r in recipes)) for d in data]
    return _grid(quantity, recipes, body)


def provenance(records: list[Record]) -> str:
    """Which devices, versions and how many seeds stand behind the tables."""
    devices = ", ".join(in_order(records, "device"))
    versions = {
        f"{package} {number}"
        for record in records
        for package, number in record["versions"].items()
    }
    counts = sorted({len(seeds) for seeds in cells(records, "seed").values()})
    return (
        f"Seeds: {', '.join(map(str, counts))}. Devices: {devices}. "
        f"Versions: {', '.join(sorted(versions))}."
    )


def table(records: list[Record], halves: Mapping[str, Sequence[str]]) -> str:
    parts = [scores(records, score) for score in SCORES]
    parts.append(ranks_of_halves(records, halves))
    # The median, as a busy moment of the machine does not count; the most, as later
    # seeds find memory that the first has left behind.
    parts.append(costs(records, "seconds", statistics.median, 1))
    parts.append(costs(records, "megabytes", max, 0))
    return "\n\n".join([*parts, provenance(records)])
