"""Accuracy against seconds, from records of ``quality.py``: what effort buys.

    python benchmarks/quality.py --data digits usps --recipes fast default -o runs.jsonl
    python benchmarks/effort.py runs.jsonl -o docs/images/effort.png

Give it records that were made on one quiet machine: seconds are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

# Ours in one colour, joined by a line in the order of effort; peers in grey.
OURS = ("fast", "default", "best")

Runs = dict[str, list[dict]]


def by_recipe(path: Path) -> dict[str, Runs]:
    """Records by data set and recipe."""
    found: dict[str, Runs] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        found[record["data"]][record["recipe"]].append(record)
    return found


def point(runs: list[dict]) -> tuple[float, float]:
    """Median of the seconds and mean of the accuracy."""
    return (
        statistics.median(run["seconds"] for run in runs),
        statistics.mean(run["acc"] for run in runs),
    )


def draw(ax: Axes, name: str, recipes: Runs) -> None:
    ours = [recipe for recipe in OURS if recipe in recipes]
    if ours:
        ax.plot(*zip(*(point(recipes[r]) for r in ours), strict=True), "-o", c="C0")
    for recipe, runs in recipes.items():
        seconds, accuracy = point(runs)
        color = "C0" if recipe in OURS else "0.45"
        if recipe not in OURS:
            ax.plot(seconds, accuracy, "s", c=color)
        n_seeds = f" ({len(runs)})" if len(runs) > 1 else ""
        ax.annotate(
            recipe + n_seeds,
            (seconds, accuracy),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=color,
        )
    ax.set(title=name, xscale="log", xlabel="seconds")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.margins(0.25)
    # At least three points high: less is noise, and must not look like a slope.
    low, high = ax.get_ylim()
    more = max(3 - (high - low), 0) / 2
    ax.set_ylim(low - more, high + more)
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--data", nargs="+", help="default: every set in the records")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    records = by_recipe(arguments.records)
    names = arguments.data or sorted(records)
    figure, _ = plt.subplots(
        1, len(names), figsize=(3.6 * len(names), 3.4), layout="constrained"
    )
    for ax, name in zip(figure.axes, names, strict=True):
        draw(ax, name, records[name])
    figure.axes[0].set_ylabel("ACC, %")
    figure.savefig(arguments.output, dpi=130)


if __name__ == "__main__":
    main()
