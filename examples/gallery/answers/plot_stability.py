"""
Stable, or hardly more than noise
=================================

``stability_`` comes with every fit: from 0 (halves of the ensemble agree as by chance)
to 1 (they find the same clusters). Below, the same program on clusters that are drawn
further and further apart.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE
from scedae.exceptions import UnstableClustersWarning
from scedae.metrics import clustering_accuracy

generator = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 150)
corners = np.array([[0, 0], [1, 0], [0.5, 0.87]])
noise = generator.normal(size=(len(y), 2))

figure, axes = plt.subplots(1, 4, figsize=(11, 3.4), layout="constrained")
for ax, distance in zip(axes, (0, 2.5, 4, 7), strict=True):
    X = distance * corners[y] + noise
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SCEDAE(3, effort="fast", random_state=0).fit(X)
    warned = any(issubclass(w.category, UnstableClustersWarning) for w in caught)
    ax.scatter(*X.T, c=[f"C{label}" for label in model.labels_], s=7, linewidths=0)
    ax.set(xticks=[], yticks=[], aspect="equal")
    title = f"distance {distance}\nstability {model.stability_:.2f}"
    ax.set_title(title + ("\nwarns" if warned else "\n"))
    right = clustering_accuracy(y, model.labels_)
    ax.set_xlabel(f"{right:.0%} with their own" if distance else "one cloud")
plt.show()
