"""
``n_landmarks`` and ``n_neighbors``: how coarse the graph is
============================================================

Few landmarks and many ties make a coarse graph: clusters melt together where the gap
between them is narrow. Many landmarks and few ties make a fine one: what is
thin falls apart. Left at ``"auto"``, several graphs are tried and a judge that sees no
labels keeps one.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae.datasets import load_digits
from scedae.metrics import evaluate

warnings.simplefilter("ignore")  # some of these settings are poor on purpose
moons = make_moons(600, noise=0.1, random_state=0)
digits, of_digit = load_digits()
sets = {"moons": (*moons, 2), "digits": (digits[:900], of_digit[:900], 10)}
landmarks, neighbors = (20, 50, 100, 200, 400), (2, 3, 5, 10, 20)

# %%
# Without networks, so that only the graph differs (``SCEDAE`` has the same two
# parameters). The number is the adjusted Rand index.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
for ax, (name, (X, y, k)) in zip(axes, sets.items(), strict=True):
    scores = np.zeros((len(neighbors), len(landmarks)))
    for i, r in enumerate(neighbors):
        for j, p in enumerate(landmarks):
            model = LandmarkSpectralClustering(
                k,
                n_landmarks=p,
                n_neighbors=r,
                embedding="diffusion",
                random_state=0,
            )
            scores[i, j] = evaluate(y, model.fit_predict(X))["ari"]
            color = "white" if scores[i, j] > 0.6 else "black"
            text = f"{abs(scores[i, j]):.2f}"
            ax.text(j, i, text, ha="center", va="center", color=color)
    image = ax.imshow(scores, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(landmarks)), landmarks)
    ax.set_yticks(range(len(neighbors)), neighbors)
    ax.tick_params(length=0)
    ax.set(xlabel="n_landmarks", ylabel="n_neighbors")
    ax.spines[:].set_visible(False)
    judged = SCEDAE(k, effort="fast", random_state=0).fit(X)
    chosen = next(graph for graph in judged.candidates_ if graph.chosen)
    score = evaluate(y, judged.labels_)["ari"]
    graph = f"{chosen.n_landmarks} landmarks, {chosen.n_neighbors} neighbours"
    ax.set_title(f"{name}\n(SCEDAE takes {graph}: {score:.2f})")
plt.show()
