"""
Refine: a network has the last word on doubtful rows
====================================================

A small classifier learns the labels of the surest rows, and that a small change of a
row must not change its answer (virtual adversarial training). It then decides about the
rows that the ensemble was least sure of: borders move to where few rows lie. On by
default on a GPU, elsewhere ``refine=True``.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE
from scedae.datasets import load_digits
from scedae.metrics import clustering_accuracy

X, y = load_digits()
X, y = X[:900], y[:900]
settings = {"effort": "fast", "random_state": 0}
before = SCEDAE(10, refine=False, **settings).fit(X)
after = SCEDAE(10, refine=True, **settings).fit(X)
after.refinement_.verdict, after.refinement_.reason

# %%
# The same rows on one map, and those that changed their cluster. A judge that sees no
# labels may refuse the step; ``refinement_`` says what was done.
from scedae.plot import embedding

ax = embedding(after)
moved = np.flatnonzero(before.labels_ != after.labels_)
ax.set_title(f"{len(moved)} of {len(X):,} rows moved (black rings)", loc="left")
places = np.empty((len(X), 2))
for cluster, points in enumerate(ax.collections[:10]):
    places[after.labels_ == cluster] = points.get_offsets()
ax.scatter(*places[moved].T, s=40, facecolor="none", edgecolor="black", linewidth=0.9)
plt.show()

# %%
# What was moved, and from where to where. Green frames are digits that now lie with
# their own kind, red ones no longer do, grey ones were wrong before and are now.
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix


def named(labels):
    """The digit that each cluster mostly holds, for each row."""
    table = confusion_matrix(y, labels)
    digits, clusters = linear_sum_assignment(-table)
    return dict(zip(clusters, digits, strict=True))


old, new = named(before.labels_), named(after.labels_)
figure, axes = plt.subplots(3, 10, figsize=(10, 3.9), layout="constrained")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
for ax, row in zip(axes.flat, moved, strict=False):
    was, now = old[before.labels_[row]], new[after.labels_[row]]
    color = "C2" if now == y[row] else "C3" if was == y[row] else "0.6"
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{was} → {now}", fontsize=9)
    ax.spines[:].set(visible=True, color=color, linewidth=2.5)
plt.show()

# %%
for name, model in {"before": before, "after": after}.items():
    print(name, f"{clustering_accuracy(y, model.labels_):.3f}")
