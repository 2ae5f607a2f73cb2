"""
Assign: k-means, in a metric where clusters are round
=====================================================

k-means in the embedding gives each row a cluster. Around their centres rows lie wide in
some directions and close in others. So the coordinates are rescaled by the spread
*within* clusters (within-class whitening, a Mahalanobis metric), and rows go to the
nearest centre there.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE
from scedae.datasets import load_digits

X, y = load_digits()
model = SCEDAE(10, effort="fast", random_state=0).fit(X)

# %%
# Where rows lie about the centre of their own cluster, all ten clusters on top of each
# other. Left: in the embedding; there they spread far in one direction and hardly in
# another. Middle: after the rescaling; the cloud is as wide in all directions, and the
# nearest centre is a fair question. Right: the spread in all directions.
metric = model.pipeline_.metric.numpy()
after = model.embedding_
before = after @ np.linalg.inv(metric)


def about_centres(points):
    """Offsets of the rows from the mean of their cluster, turned to their axes."""
    offsets = points.copy()
    for cluster in range(10):
        own = model.labels_ == cluster
        offsets[own] -= points[own].mean(0)
    return offsets @ np.linalg.svd(offsets, full_matrices=False)[2].T


figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for ax, points, name in zip(
    axes, (before, after), ("embedding", "after whitening"), strict=False
):
    offsets = about_centres(points)
    unit = np.sqrt((offsets**2).mean())
    ax.scatter(
        *(offsets[:, [0, -1]] / unit).T,
        c=[f"C{label}" for label in model.labels_],
        s=6,
        linewidths=0,
    )
    ax.set(title=name, xlim=(-5, 5), ylim=(-5, 5), aspect="equal")
    ax.set(xlabel="widest direction", ylabel="narrowest direction")
    axes[2].plot(
        np.arange(1, offsets.shape[1] + 1), offsets.std(0) / unit, "o-", label=name
    )
axes[2].set(title="spread within clusters", xlabel="direction", ylim=0)
axes[2].legend()
plt.show()
