"""
Layers: one fit, several numbers of clusters
============================================

Groups often have groups inside. One fit keeps the whole tree: ``labels_at`` gives the
rows in fewer or more clusters without training again, and every layer is nested in the
coarser ones.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram

from scedae import SCEDAE

generator = np.random.default_rng(0)
large = np.array([[0, 0], [13, 2], [5, 12]])
small = np.array([[0, 0], [3.6, 0.6], [1.2, 3.4]])
centers = (large[:, None] + small).reshape(-1, 2)
y = generator.integers(0, 9, 700)
X = centers[y] + generator.normal(0, 0.55, (700, 2))
model = SCEDAE(9, effort="fast", random_state=0).fit(X)
print(model.layers_)

# %%
figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for ax, number in zip(axes, (3, 5, 9), strict=False):
    labels = model.labels_at(number)
    ax.scatter(*X.T, c=[f"C{label}" for label in labels], s=7, linewidths=0)
    ax.set(xticks=[], yticks=[], title=f"labels_at({number})")
dendrogram(
    model.linkage_,
    ax=axes[3],
    no_labels=True,
    color_threshold=0,
    above_threshold_color="0.4",
)
heights = model.linkage_[:, 2]
axes[3].axhline((heights[-3] + heights[-2]) / 2, color="C3", ls="--", lw=1)
axes[3].set(title="linkage_, cut at three", yticks=[])
plt.show()
