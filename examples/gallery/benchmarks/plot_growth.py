"""
Growth with rows, members, clusters and landmarks
=================================================

Drawn from the records of ``benchmarks/large_file.py`` (seconds on an H200, rows from a
file) and ``benchmarks/growth.py`` (processor seconds of one thread, where one quantity
varies and the others stay), which lie in ``docs/results/speed`` of the repository. Grey
lines grow in proportion. :doc:`/performance` has the numbers.
"""

# %%
import json
from pathlib import Path

import matplotlib.pyplot as plt


def read(name):
    lines = Path(f"../../../docs/results/speed/{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


large = {r["rows"]: r["seconds"] for r in read("large_file") if r["route"] == "file"}
varied = {}
for record in read("growth"):
    curve = varied.setdefault(record["varied"], {})
    curve[record[record["varied"]]] = record["cpu_seconds"]

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")


def in_proportion(ax, points):
    """A line of slope one through the last point."""
    first, last = min(points), max(points)
    ax.plot([first, last], [points[last] * first / last, points[last]], "0.8", lw=1)


in_proportion(left, large)
left.plot(*zip(*sorted(large.items()), strict=True), "o-")
for rows, seconds in large.items():
    left.annotate(
        f"{seconds:.0f} s", (rows, seconds), (-4, 7), textcoords="offset points"
    )
left.set(xscale="log", yscale="log", xlabel="rows of 32 columns", ylabel="seconds")
left.set_yticks([1, 10, 100], ["1", "10", "100"])
left.set_ylim(1, 150)
left.set_title("From a file, on a GPU")

for number, quantity in enumerate(("members", "clusters", "landmarks")):
    curve = varied[quantity]
    least = min(curve)
    steps = {value / least: seconds for value, seconds in curve.items()}
    label = f"{quantity} ({least:,} to {max(curve):,})"
    right.plot(
        *zip(*sorted(steps.items()), strict=True), "o-", label=label, c=f"C{number + 1}"
    )
in_proportion(right, {1: 3, 20: 60})
right.set(
    xscale="log", yscale="log", xlabel="times the least", ylabel="processor seconds"
)
right.set_yticks([3, 10, 30, 60], ["3", "10", "30", "60"])
right.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
right.minorticks_off()
right.set_title("20,000 rows, on a CPU")
right.legend()
plt.show()
