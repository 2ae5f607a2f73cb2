"""
``embedding``: the paper's, or by diffusion
===========================================

``"lsc"`` is the published embedding: as many singular vectors as clusters, unweighted.
``"diffusion"``, the default, looks at twice as many and weights them as a random walk
does. The difference shows where clusters differ much in size.
"""

# %%
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from scedae import SCEDAE
from scedae.datasets import make_lsun
from scedae.metrics import evaluate

warnings.simplefilter("ignore")
sizes = [500, 60, 20]
centers = [[0, 0], [7, 0], [0, 7]]
sets = {
    "unequal sizes": (*make_blobs(sizes, centers=centers, random_state=0), 3),
    "lsun": (*make_lsun(500, random_state=0), 3),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for line, (name, (X, y, k)) in zip(axes, sets.items(), strict=True):
    for ax, embedding in zip(line, ("lsc", "diffusion"), strict=True):
        model = SCEDAE(
            k,
            effort="fast",
            embedding=embedding,
            n_landmarks=200,
            n_neighbors=5,
            random_state=0,
        ).fit(X)
        score = evaluate(y, model.labels_)["ari"]
        ax.scatter(*X.T, c=[f"C{c}" for c in model.labels_], s=9, linewidths=0)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f'{name}, "{embedding}": {score:.2f}')
plt.show()
