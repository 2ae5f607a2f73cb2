"""Rows of a class that was left out of the fit: are they told from the others?

    python benchmarks/novelty.py digits:0:3:8 coil20:3:7 --effort fast --rows 3000

A model learns from three quarters of the rows of all classes but one. It is asked
about the other quarter, and about the class that was left out: AUROC of
``novelty_score`` beside an isolation forest and the distance to the nearest row of the
fit, on the rows as they are and as ``SCEDAE`` scales them.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
import torch
from quality_data import DATA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from scedae import SCEDAE


def measured(name: str, left_out: int, effort: str, most: int) -> dict:
    """One line: AUROC of each way to tell the class, in percent."""
    X, y = DATA[name]()
    X, y = np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1]
    random = np.random.default_rng(0)
    if len(X) > most:
        drawn = random.choice(len(X), most, replace=False)
        X, y = X[drawn], y[drawn]
    known = random.permutation(np.flatnonzero(y != left_out))
    learnt, rest = np.split(known, [3 * len(known) // 4])
    asked = np.concatenate([rest, np.flatnonzero(y == left_out)])
    is_new, known_rows, rows = y[asked] == left_out, X[learnt], X[asked]
    model = SCEDAE(int(y.max()), effort=effort, random_state=0).fit(known_rows)
    scaler = model.pipeline_.scaler
    scaled = [scaler(torch.from_numpy(part)).numpy() for part in (known_rows, rows)]
    forest = IsolationForest(random_state=0).fit(known_rows)
    scores = {
        "novelty_score": model.novelty_score(rows),
        "isolation forest": -forest.score_samples(rows),
        "nearest row": nearest_distance(known_rows, rows),
        "nearest scaled row": nearest_distance(*scaled),
    }
    found = {k: round(100 * roc_auc_score(is_new, v), 2) for k, v in scores.items()}
    return {"data": name, "left out": left_out, "learnt": len(learnt), **found}


def nearest_distance(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Distance to the nearest known row, of shape (n,)."""
    return NearestNeighbors(n_neighbors=1).fit(known).kneighbors(rows)[0][:, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", metavar="NAME:CLASS[:CLASS…]")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--rows", type=int, default=3000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for each in given.sets:
        name, *classes = each.split(":")
        for left_out in classes:
            line = measured(name, int(left_out), given.effort, given.rows)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
