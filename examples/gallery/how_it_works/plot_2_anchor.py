"""
Anchor: rows tied to landmarks
==============================

A graph between all pairs of rows is too large to make. So a few points, the
*landmarks*, stand for the rows near them (they are centres of k-means), and each row is
tied to its nearest landmarks only. Near landmarks weigh more.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.collections import LineCollection
from sklearn.datasets import make_moons

from scedae import LandmarkSpectralClustering

X, _ = make_moons(300, noise=0.06, random_state=0)


def ties(n_landmarks, n_neighbors):
    """Rows, landmarks and weighted ties of one member that works on the rows."""
    model = LandmarkSpectralClustering(
        2, n_landmarks=n_landmarks, n_neighbors=n_neighbors, random_state=0
    ).fit(X)
    rows = model.pipeline_.scaler(torch.as_tensor(X, dtype=torch.float64))
    member = model.pipeline_.members[0]
    affinity = member.affinity(rows, n_neighbors)
    ends = member.landmarks[affinity.columns.long()].numpy()
    starts = np.repeat(rows.numpy()[:, None], n_neighbors, axis=1)
    lines = np.stack([starts, ends], axis=2).reshape(-1, 2, 2)
    return rows.numpy(), member.landmarks.numpy(), lines, affinity.weights.numpy()


# %%
# Left: two ties a row to few landmarks. Middle: more landmarks, three ties a row.
# Right: ties to ten of few landmarks; now some cross the gap between the moons. How
# coarse the graph should be depends on the data, so ``SCEDAE`` tries several and
# keeps one by a rule that sees no labels.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
for ax, (p, r) in zip(axes, [(20, 2), (60, 3), (20, 10)], strict=True):
    rows, landmarks, lines, weights = ties(p, r)
    shade = np.column_stack([np.zeros((lines.shape[0], 3)), 0.5 * weights.ravel()])
    ax.add_collection(LineCollection(lines, colors=shade, linewidths=0.8))
    ax.scatter(*rows.T, s=5, color="C0", linewidths=0, label="row")
    ax.scatter(*landmarks.T, s=28, color="C1", edgecolor="white", label="landmark")
    ax.set(xticks=[], yticks=[], title=f"{p} landmarks, {r} ties a row", aspect="equal")
axes[0].legend(loc="lower left", fontsize=8)
plt.show()
