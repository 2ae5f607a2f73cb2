"""
``effort``: how much work to put in
===================================

One word for how many networks are trained, how long, and on how many landmarks.
``"fast"`` for a first look, which is not refined; ``"best"`` for patience or a GPU.
"""

# %%
import time
import warnings

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae.datasets import load_digits
from scedae.metrics import evaluate

warnings.simplefilter("ignore")
digits, of_digit = load_digits()
sets = {
    "digits, 600 rows": (digits[:600], of_digit[:600], 10),
    "moons, 500 rows": (*make_moons(500, noise=0.12, random_state=0), 2),
}
methods = {
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
    "LSC": lambda k: LandmarkSpectralClustering(k, random_state=0),
    '"fast"': lambda k: SCEDAE(k, effort="fast", random_state=0),
    '"default"': lambda k: SCEDAE(k, random_state=0),
}
for make in list(methods.values())[:3]:  # what a first fit loads does not count
    make(2).fit_predict(digits[:100])
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, (name, (X, y, k)) in zip(axes, sets.items(), strict=True):
    for color, (method, make) in enumerate(methods.items()):
        start = time.process_time()
        score = evaluate(y, make(k).fit_predict(X))["ari"]
        seconds = max(time.process_time() - start, 0.01)
        ax.scatter(seconds, score, color=f"C{color}", s=70, label=method, zorder=2)
    ax.set(xscale="log", xlabel="processor seconds where this page was built")
    ax.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    ax.set_xticks([], minor=True)
    ax.set_xlim(0.02, 30)
    ax.set_title(name)
    ax.grid(color="0.92")
axes[0].set(ylabel="adjusted Rand index", ylim=(0, 1.05))
axes[0].legend(loc="lower right")
plt.show()

# %%
# One fit each, which says little about ranks that are close. ``"best"`` is left out: it
# takes several times as long on a CPU. :doc:`/performance` has larger data.
