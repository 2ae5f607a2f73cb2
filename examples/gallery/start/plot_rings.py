"""
Two rings that k-means cannot tell apart
========================================

Two linked rings in space. No plane separates them, so the nearest of two centres is the
wrong question; which rows hang together is the right one.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from scedae import SCEDAE
from scedae.datasets import make_chainlink
from scedae.metrics import clustering_accuracy

X, y = make_chainlink(700, random_state=0)
answers = {
    "k-means": KMeans(2, n_init=10, random_state=0).fit_predict(X),
    "SCEDAE": SCEDAE(2, effort="fast", random_state=0).fit_predict(X),
}

# %%
figure, axes = plt.subplots(
    1, 2, figsize=(9, 4.2), subplot_kw={"projection": "3d"}, layout="constrained"
)
for ax, (name, labels) in zip(axes, answers.items(), strict=True):
    ax.scatter(*X.T, c=[f"C{label}" for label in labels], s=6, depthshade=False)
    ax.view_init(elev=28, azim=-60)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    ax.set_title(f"{name}: {clustering_accuracy(y, labels):.0%} right")
plt.show()
