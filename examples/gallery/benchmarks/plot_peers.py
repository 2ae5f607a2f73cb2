"""
Twenty-two data sets, beside other methods
==========================================

Drawn from the records of ``benchmarks/quality.py``, which lie in ``docs/results`` of
the repository. Every method is told the number of classes; points are means over seeds.
``SCEDAE`` is the default on a CPU. :doc:`/performance` has the numbers, and what was
not measured.
"""

# %%
import json
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

records = {}
for name in ("default", "quality"):  # of a run that both have, the first counts
    for line in Path(f"../../../docs/results/{name}.jsonl").read_text().splitlines():
        run = json.loads(line)
        records.setdefault((run["data"], run["recipe"], run["seed"]), run["ari"])
scores = defaultdict(list)
for (data, recipe, _), ari in records.items():
    scores[data, recipe].append(ari)

# %%
methods = {
    "kmeans": ("k-means", "C1", "o"),
    "spectral": ("spectral (scikit-learn)", "C2", "o"),
    "umap-gmm": ("UMAP + Gaussian mixture", "C4", "o"),
    "evoc-nearest": ("EVoC, noise to the nearest", "C8", "o"),
    "lsc": ("LandmarkSpectralClustering", "C9", "d"),
    "default": ("SCEDAE", "C0", "D"),
}
sets = sorted(
    {data for data, _ in scores}, key=lambda data: np.mean(scores[data, "default"])
)
figure, ax = plt.subplots(figsize=(9, 7), layout="constrained")
for place, data in enumerate(sets):
    known = [np.mean(scores[data, m]) for m in methods if scores[data, m]]
    ax.plot([min(known), max(known)], [place, place], color="0.88", lw=5, zorder=0)
for method, (name, color, marker) in methods.items():
    known = [
        (np.mean(scores[d, method]), i) for i, d in enumerate(sets) if scores[d, method]
    ]
    size = 60 if method == "default" else 32
    ax.scatter(
        *zip(*known, strict=True), s=size, color=color, marker=marker, label=name
    )
ax.set_yticks(range(len(sets)), sets)
ax.set(xlabel="adjusted Rand index, percent", xlim=(-3, 103))
ax.legend(loc="lower right", frameon=True)
ax.margins(y=0.02)
plt.show()
