"""
Accuracy against seconds on a CPU
=================================

Drawn from the records of ``benchmarks/quality.py`` on two cores with nothing else to do
(``docs/results/speed/cpu.jsonl`` of the repository), means over three seeds (one
of ``default``). Up is better, left is sooner. :doc:`/performance` has the numbers.
"""

# %%
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

lines = Path("../../../docs/results/speed/cpu.jsonl").read_text().splitlines()
found = {}
for record in map(json.loads, lines):
    runs = found.setdefault(record["data"], {}).setdefault(record["recipe"], [])
    runs.append((record["seconds"], record["acc"]))
titles = {
    "mnist": "MNIST",
    "usps": "USPS",
    "pendigits": "PenDigits",
    "text_banking77_use512": "77 intents",
}
names = {
    "fast": "scedae, fast and default",
    "kmeans": "k-means",
    "lsc": "LSC",
    "umap-gmm": "UMAP + mixture",
    "evoc": "EVoC",
    "evoc-nearest": "EVoC, noise given away",
}

# %%
figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
for ax, (data, title) in zip(axes.flat, titles.items(), strict=True):
    means = {recipe: np.mean(runs, axis=0) for recipe, runs in found[data].items()}
    ours = [means[effort] for effort in ("fast", "default")]
    ax.plot(*zip(*ours, strict=True), "o-", c="C0", zorder=3)
    for number, recipe in enumerate(names):
        if recipe in means and recipe != "fast":
            ax.plot(*means[recipe], "s", c=f"C{number}")
    for effort, point in zip(("fast", "default"), ours, strict=True):
        place = {"xytext": (0, -14), "textcoords": "offset points", "ha": "center"}
        ax.annotate(effort, point, c="C0", **place)
    ax.set(xscale="log", title=title, xlim=(0.05, 250))
    ax.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    ax.margins(y=0.12)
    ax.grid(alpha=0.3)
axes[1, 0].set(xlabel="seconds", ylabel="accuracy, %")
styles = ["o-", *["s"] * (len(names) - 1)]
handles = [
    plt.Line2D([], [], c=f"C{i}", marker=style[0], ls="-" if "-" in style else "")
    for i, style in enumerate(styles)
]
figure.legend(handles, names.values(), loc="outside lower center", ncols=3)
plt.show()
