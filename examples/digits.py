"""Cluster 1,797 handwritten digits without their labels, and look at the result.

Run by ``make demo``. The labels are used afterwards, to score; k-means on the same
rows stands beside it. A picture of the embedding is saved as ``digits.png``, or under
the name given.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE

from scedae import SCEDAE
from scedae.datasets import load_digits
from scedae.metrics import evaluate


def draw(model: SCEDAE, images, path: Path) -> None:
    """The rows on a map of their embedding, with one typical digit a cluster."""
    place = TSNE(random_state=0, init="pca").fit_transform(model.embedding_)
    figure, axes = plt.subplots(figsize=(8, 7), layout="constrained")
    axes.scatter(*place.T, c=model.labels_, cmap="tab10", s=7, linewidths=0)
    distance = ((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(2)
    for cluster, row in enumerate(distance.argmin(0)):
        middle = place[model.labels_ == cluster].mean(0)
        box = matplotlib.offsetbox.OffsetImage(
            images[row].reshape(8, 8), zoom=3, cmap="gray_r"
        )
        axes.add_artist(
            matplotlib.offsetbox.AnnotationBbox(
                box, middle, pad=0.15, bboxprops={"edgecolor": plt.cm.tab10(cluster)}
            )
        )
    axes.set(xticks=[], yticks=[], title="1,797 digits, coloured by cluster")
    axes.spines[:].set_visible(False)
    figure.savefig(path, dpi=110)


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "digits.png")
    X, y = load_digits()
    methods = {
        "k-means": KMeans(10, n_init=10, random_state=0),
        "SCEDAE": SCEDAE(10, random_state=0, verbose=1),
    }
    print(f"{'':10} {'ACC':>6} {'NMI':>6} {'ARI':>6} {'seconds':>8}")
    for name, model in methods.items():
        start = time.perf_counter()
        scores = evaluate(y, model.fit_predict(X))
        seconds = time.perf_counter() - start
        cells = " ".join(f"{100 * score:6.2f}" for score in scores.values())
        print(f"{name:10} {cells} {seconds:8.1f}", flush=True)
    draw(model, X, target)
    print(f"The map of the embedding is in {target}.")


if __name__ == "__main__":
    main()
