"""Do chances come true? Expected calibration error against known classes.

    python benchmarks/calibration.py digits usps coil20 --effort fast --rows 6000

Clusters are matched with classes one to one, as for ACC; a row is right if its cluster
is its class. Rows are put into 15 groups by the chance of their cluster; the error is
the mean distance, over rows, between chance and share of right rows of the group
(Naeini et al., 2015). Labels enter nothing but this table.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
from quality_data import DATA, HALVES
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix

from scedae import SCEDAE

_GROUPS = 15


def right_rows(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Whether the cluster of each row is its class, clusters matched with classes."""
    table = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(-table)
    names = np.full(table.shape[1], -1)
    names[columns] = rows
    clusters = np.unique(labels, return_inverse=True)[1]
    return names[clusters] == np.unique(classes, return_inverse=True)[1]


def calibration_error(chance: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error, in points."""
    groups = np.minimum((chance * _GROUPS).astype(int), _GROUPS - 1)
    gaps = np.bincount(groups, chance - right, _GROUPS)
    return 100 * float(np.abs(gaps).sum() / len(chance))


def measured(name: str, effort: str, seed: int, most: int, refine: str | bool) -> dict:
    """One line of the table."""
    X, y = DATA[name]()
    X = X.astype(np.float32) if X.dtype == np.float16 else X
    if len(X) > most:
        drawn = np.random.default_rng(0).choice(len(X), most, replace=False)
        X, y = X[drawn], y[drawn]
    model = SCEDAE(
        len(np.unique(y)), effort=effort, refine=refine, random_state=seed
    ).fit(X)
    right = right_rows(model.labels_, y)
    chance = model.probabilities_.max(1)
    found = {
        "data": name,
        "half": next((half for half, names in HALVES.items() if name in names), "-"),
        "rows": len(X),
        "seed": seed,
        "ACC": round(100 * right.mean(), 1),
        "chance": round(100 * chance.mean(), 1),
        "ECE": round(calibration_error(chance, right), 1),
    }
    if not right.all():  # how well doubt points at wrong rows
        found["AUROC"] = round(float(roc_auc_score(right, chance)), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--refine", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.names:
        for seed in range(given.seeds):
            refine = True if given.refine else "auto"
            line = measured(name, given.effort, seed, given.rows, refine)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
