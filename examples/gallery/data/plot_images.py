"""
Small images: what a cluster looks like
=======================================

Images are rows of pixels; nothing has to be set. The mean of a cluster shows its kind,
and what varies within it shows why a single mean is not enough: k-means compares with
means, spectral clustering follows chains of neighbours.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE
from scedae.datasets import load_digits

X, _ = load_digits()
model = SCEDAE(10, effort="fast", random_state=0).fit(X)

# %%
# For each cluster: its mean, then rows from the centre outwards (the nearest row, and
# those at a quarter, half, three quarters of the way, and the farthest).
figure, axes = plt.subplots(10, 6, figsize=(5.6, 8.6), layout="constrained")
for cluster, line in enumerate(axes):
    rows = np.flatnonzero(model.labels_ == cluster)
    offsets = model.embedding_[rows] - model.cluster_centers_[cluster]
    rows = rows[np.argsort((offsets**2).sum(1))]
    shown = rows[np.linspace(0, len(rows) - 1, 5).astype(int)]
    for ax, image in zip(line, [X[rows].mean(0), *X[shown]], strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    line[0].spines[:].set(visible=True, color=f"C{cluster}", linewidth=2)
    line[0].set_ylabel(f"{len(rows)}", rotation=0, ha="right", va="center")
for ax, name in zip(axes[0], ["mean", "centre", "¼", "½", "¾", "edge"], strict=True):
    ax.set_title(name, fontsize=9, loc="center")
plt.show()
