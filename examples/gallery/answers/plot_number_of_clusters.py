"""
How many clusters?
==================

``suggest_clusters`` weighs two kinds of evidence for each number: the *gap* in the
spectrum of the graph, and the *stability*, whether two halves of the ensemble that
share neither a member nor a row find the same clusters.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from scedae import plot, suggest_clusters

X, _ = make_blobs(900, centers=6, n_features=8, cluster_std=2.5, random_state=5)
suggestion = suggest_clusters(X, max_clusters=15, effort="fast", random_state=0)
print(suggestion)

# %%
# Six blobs in eight columns. Bars are the gap (grey) and the score; the line above is
# the stability. One number stands out.
plot.suggestion(suggestion)
plt.show()

# %%
# A cloud without clusters has no such number. It says so, here as a warning that the
# example lets pass: always ask, before you trust clusters of data you do not know.
import warnings

cloud = np.random.default_rng(0).normal(size=(900, 8))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    nothing = suggest_clusters(cloud, max_clusters=15, effort="fast", random_state=0)
print(nothing)
plot.suggestion(nothing)
plt.show()
