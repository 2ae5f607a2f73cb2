"""
Embed: coordinates in which clusters fall apart
===============================================

The leading singular vectors of the fused ties are new coordinates for the rows. Rows
that a random walk on the graph can hardly leave together end close together. This is
spectral clustering; landmarks make it affordable.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

from scedae import SCEDAE

X, y = make_circles(700, noise=0.05, factor=0.5, random_state=0)
model = SCEDAE(2, effort="fast", random_state=0).fit(X)

# %%
# Two rings in the plane, and the same rows by their first two coordinates in
# ``embedding_``. What no straight line could cut lies in two heaps.
figure, (before, after) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
colors = [f"C{label}" for label in y]
before.scatter(*X.T, c=colors, s=8, linewidths=0)
before.set(title="rows", xticks=[], yticks=[], aspect="equal")
after.scatter(*model.embedding_[:, :2].T, c=colors, s=8, linewidths=0)
after.set(title="embedding, first two coordinates", xticks=[], yticks=[])
after.margins(0.2)
plt.show()

# %%
# The same coordinates as colours on the rows. The first takes one value on each ring;
# the others change along a ring and say little about clusters. Each is weighted by a
# power of its singular value (a random walk of some length), so that such directions
# fade where there are more of them.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for number, ax in enumerate(axes, 1):
    values = model.embedding_[:, number - 1]
    ax.scatter(*X.T, c=values, cmap="coolwarm", s=8, linewidths=0)
    ax.set(title=f"coordinate {number}", xticks=[], yticks=[], aspect="equal")
plt.show()
