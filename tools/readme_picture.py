"""The picture of README: ``python tools/readme_picture.py docs/images/readme.png``.

Digits of scikit-learn, the default with seed 0: a map of all rows, and the surest rows
of each cluster.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE, plot
from scedae.datasets import load_digits
from scedae.metrics import evaluate

N_SHOWN = 12
PADDING = ((0, 0), (0, 0), (1, 2), (1, 2))  # white between pictures of 8 x 8


def main(path: str) -> None:
    X, y = load_digits()
    model = SCEDAE(n_clusters=10, random_state=0).fit(X)
    print(evaluate(y, model.labels_))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 4.4), width_ratios=[1.3, 1], layout="constrained"
    )
    plot.embedding(model, ax=left)
    left.get_legend().remove()  # the names stand on the map
    left.set_title(f"{len(X):,} pictures, no labels: a map of the answer", loc="left")
    rows = [surest_rows(model, cluster) for cluster in range(10)]
    pictures = np.pad(X[np.array(rows)].reshape(10, N_SHOWN, 8, 8), PADDING)
    sheet = pictures.swapaxes(1, 2).reshape(10 * 11, N_SHOWN * 11)
    right.imshow(sheet, cmap="gray_r", interpolation="nearest")
    right.set_yticks(11 * np.arange(10) + 5, [f"cluster {c}" for c in range(10)])
    right.set_xticks([])
    right.tick_params(left=False)
    right.spines[:].set_visible(False)
    right.set_title("the surest of each cluster", loc="left")
    figure.savefig(path, dpi=110)


def surest_rows(model: SCEDAE, cluster: int) -> np.ndarray:
    own = np.flatnonzero(model.labels_ == cluster)
    return own[np.argsort(-model.confidence_[own])][:N_SHOWN]


if __name__ == "__main__":
    main(sys.argv[1])
