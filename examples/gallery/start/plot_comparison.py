"""
The first things people try, beside other methods
=================================================

Small shapes on which clustering methods are usually compared. They say little about
real data, but they show what each method takes for a cluster. All methods are told the
number of clusters but HDBSCAN, which finds its own and may call rows noise (grey).
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from scedae import SCEDAE

n = 450
blobs, of_blob = make_blobs(n, random_state=170)
stretched = blobs @ np.array([[0.6, -0.6], [-0.4, 0.8]])
sizes = make_blobs([360, 60, 30], centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
shapes = {
    "moons": (*make_moons(n, noise=0.06, random_state=0), 2),
    "circles": (*make_circles(n, noise=0.04, factor=0.5, random_state=0), 2),
    "stretched": (stretched, of_blob, 3),
    "unequal sizes": (*sizes, 3),
    "unequal widths": (
        *make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170),
        3,
    ),
}
methods = {
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
    "Gaussian mixture": lambda k: GaussianMixture(k, n_init=3, random_state=0),
    "spectral": lambda k: SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=10, random_state=0
    ),
    "HDBSCAN": lambda k: HDBSCAN(min_cluster_size=15, copy=True),
    "SCEDAE": lambda k: SCEDAE(k, effort="fast", random_state=0),
}


def name_after(y, labels):
    """The class that each cluster mostly holds; further clusters get new numbers."""
    clusters = np.unique(labels)
    table = np.array(
        [[np.sum((labels == c) & (y == k)) for k in set(y)] for c in clusters]
    )
    lines, classes = linear_sum_assignment(-table)
    names = {clusters[i]: k for i, k in zip(lines, classes, strict=True)}
    fresh = iter(range(len(set(y)), 10))
    return {c: names[c] if c in names else next(fresh) for c in clusters}


# %%
# The number in each corner is the adjusted Rand index: 1 is the expected answer.
# Gaussian blobs of unequal widths are what a Gaussian mixture is made for, and it wins
# there: :doc:`/when-not` says more about such cases.
figure, axes = plt.subplots(
    len(shapes), len(methods), figsize=(10, 9.4), layout="constrained"
)
for line, (name, (X, y, k)) in zip(axes, shapes.items(), strict=True):
    X = StandardScaler().fit_transform(X)
    for ax, make in zip(line, methods.values(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of graphs in several pieces
            labels = make(k).fit_predict(X)
        named = name_after(y, labels)  # one cluster, one colour along a line
        colors = ["0.7" if label < 0 else f"C{named[label]}" for label in labels]
        ax.scatter(*X.T, c=colors, s=5, linewidths=0)
        score = abs(round(adjusted_rand_score(y, labels), 2))
        text = ax.text(0.97, 0.03, f"{score:.2f}", transform=ax.transAxes, ha="right")
        text.set(weight="bold", path_effects=[withStroke(linewidth=3, foreground="w")])
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
for ax, method in zip(axes[0], methods, strict=True):
    ax.set_title(method)
plt.show()
