"""Layers of one fit, above and below its number of clusters, against known classes.

    python benchmarks/layers.py hierarchy:9 hierarchy:27 digits:10 digits:20 coil20:40

ARI of ``labels_at(n)`` beside Ward's clustering of ``embedding_`` cut into n clusters.
"hierarchy" is generated: three groups of three groups of three clouds in 20 columns,
with classes of each depth. Labels enter nothing but this table.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
from quality_data import DATA
from scipy.cluster.hierarchy import cut_tree, ward
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE


def hierarchy(seed: int = 0, rows: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, 20) and their classes at three depths, (n, 3)."""
    random, clouds, classes = np.random.default_rng(seed), [], []
    for a in range(3):
        first = 4 * random.standard_normal(20)
        for b in range(3):
            second = first + 1.6 * random.standard_normal(20)
            for c in range(3):
                third = second + 0.7 * random.standard_normal(20)
                clouds.append(third + 0.4 * random.standard_normal((rows, 20)))
                classes += [(a, 3 * a + b, 9 * a + 3 * b + c)] * rows
    return np.concatenate(clouds), np.array(classes)


def measured(name: str, fitted: int, effort: str, most: int) -> list[dict]:
    """A line for each number of clusters and each depth of classes."""
    if name == "hierarchy":
        X, classes = hierarchy()
    else:
        X, y = DATA[name]()
        X, classes = X[:most], np.unique(y[:most], return_inverse=True)[1][:, None]
    model = SCEDAE(fitted, effort=effort, random_state=0).fit(X)
    tree, lines = ward(model.embedding_), []
    for depth in classes.T:
        n_classes = len(np.unique(depth))
        wanted = {2, 3, 5, 8, 9, 10, 12, 15, 20, 27, fitted, n_classes}
        for n in sorted(n for n in wanted if n <= len(model.linkage_) + 1):
            ours = adjusted_rand_score(depth, model.labels_at(n))
            theirs = adjusted_rand_score(depth, cut_tree(tree, n_clusters=n)[:, 0])
            lines.append(
                {
                    "data": name,
                    "fitted": fitted,
                    "classes": n_classes,
                    "layer": n,
                    "ARI": round(100 * ours, 1),
                    "Ward": round(100 * theirs, 1),
                }
            )
    named = [(layer.n_clusters, round(layer.stability, 2)) for layer in model.layers_]
    return [*lines, {"data": name, "fitted": fitted, "layers_": named}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", metavar="NAME:CLUSTERS")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--rows", type=int, default=6000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for each in given.sets:
        name, fitted = each.split(":")
        for line in measured(name, int(fitted), given.effort, given.rows):
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
