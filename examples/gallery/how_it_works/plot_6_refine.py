"""
Refine: a network has the last word on doubtful rows
====================================================

A small classifier learns the labels of the surest rows, and that a small change of a
row must not change its answer (virtual adversarial training). It then decides about the
rows that the ensemble was least sure of: borders move to where few rows lie. A second
one learns from the first. On by default, unless the effort is ``"fast"``.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix

from scedae import SCEDAE, plot
from scedae.datasets import load_digits
from scedae.metrics import clustering_accuracy

X, y = load_digits()
model = SCEDAE(10, effort="fast", refine=True, random_state=0).fit(X)
model.refinement_.verdict, model.refinement_.reason

# %%
# Before this step a row belonged to the nearest centre of the embedding, so both
# answers can be compared. A judge that sees no labels may refuse the step;
# ``refinement_`` says what was done.
distances = ((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(2)
before, after = distances.argmin(1), model.labels_
moved = np.flatnonzero(before != after)

ax = plot.embedding(model)
ax.set_title(f"{len(moved)} of {len(X):,} rows moved (black rings)", loc="left")
places = np.empty((len(X), 2))
for cluster, points in enumerate(ax.collections[:10]):
    places[after == cluster] = points.get_offsets()
ax.scatter(*places[moved].T, s=40, facecolor="none", edgecolor="black", linewidth=0.9)
plt.show()

# %%
# What was moved, from which digit's cluster to which. Green frames are digits that now
# lie with their own kind, red ones no longer do, grey ones neither before nor after.
digits, clusters = linear_sum_assignment(-confusion_matrix(y, after))
name = dict(zip(clusters, digits, strict=True))  # the digit a cluster mostly holds

shown = moved[:30]
figure, axes = plt.subplots(
    -(-len(shown) // 10), 10, figsize=(10, 1.3 * -(-len(shown) // 10)), squeeze=False
)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
for ax, row in zip(axes.flat, shown, strict=False):
    was, now = name[before[row]], name[after[row]]
    color = "C2" if now == y[row] else "C3" if was == y[row] else "0.6"
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{was} → {now}", fontsize=9)
    ax.spines[:].set(visible=True, color=color, linewidth=2.5)
plt.show()

# %%
print(f"before {clustering_accuracy(y, before):.3f}")
print(f"after  {clustering_accuracy(y, after):.3f}")
