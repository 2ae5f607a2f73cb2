"""
Rows without a label: between clusters, and outside of all
==========================================================

``predict(X, reject=0.05)`` gives no cluster to rows that lie *between* clusters.
``novelty_score`` tells rows that lie *outside* of all: rows like none of the fit, of
which the nearest cluster may be quite sure all the same.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from scedae import SCEDAE

X, _ = make_blobs(
    [250, 250, 120], centers=[[0, 0], [5, 0.4], [2.4, 3.6]], random_state=0
)
model = SCEDAE(3, effort="fast", random_state=0).fit(X)

generator = np.random.default_rng(1)
strangers = generator.uniform((-5, -5), (10, 8), (60, 2))
new = np.vstack([X, strangers])

# %%
# Left: clusters of all rows. Middle: rows less sure than a twentieth of the fit's are
# rejected (black). Right: rows unlike those of the fit are ringed; the limit is a
# quantile of the scores of rows that are known to be usual.
labels = model.predict(new)
kept = model.predict(new, reject=0.05)
novelty = model.novelty_score(new)
limit = np.quantile(novelty[: len(X)], 0.99)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, shown, title in zip(
    axes,
    (labels, kept, labels),
    ("predict", "reject=0.05", f"novelty_score over {limit:.1f} ringed"),
    strict=True,
):
    colors = ["black" if label < 0 else f"C{label}" for label in shown]
    ax.scatter(*new.T, c=colors, s=9, linewidths=0)
    ax.set(xticks=[], yticks=[], title=title)
outside = novelty > limit
axes[2].scatter(*new[outside].T, s=70, facecolor="none", edgecolor="C3", linewidth=1)
plt.show()

# %%
print(f"rejected: {np.mean(kept[: len(X)] < 0):.0%} of the rows of the fit")
print(f"ringed:   {np.mean(outside[len(X) :]):.0%} of the strangers")
