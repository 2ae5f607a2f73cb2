"""Shapes that papers on clustering show, as cases for ``sanity.py --shapes``.

Aggregation, Compound, Flame, Jain, Spiral, Chameleon's and many more are gathered in
Gagolewski's benchmark suite for clustering algorithms (github.com/gagolews/
clustering-data-v1), a clone of which is read here; nothing of it is kept. Where a set
has several reference partitions, each is a case. Rows with the label 0 there are noise.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from sanity_cases import Case, Data

# Folders of the suite: the others hold what is compared elsewhere (FCPS, MNIST) or
# Gaussian clouds by the hundred.
BATTERIES = ("graves", "other", "sipu", "uci", "wut")
MOST_ROWS, FEWEST_ROWS = 10_000, 100


def classic_shapes(clone: Path) -> dict[str, Case]:
    """All cases of at most so many rows."""
    found = {}
    for battery in BATTERIES:
        for file in sorted((clone / battery).glob("*.labels*.gz")):
            name, number = file.name.removesuffix(".gz").split(".labels")
            X = np.loadtxt(file.with_name(f"{name}.data.gz"), ndmin=2)
            y = np.loadtxt(file, dtype=int) - 1
            if FEWEST_ROWS <= len(X) <= MOST_ROWS:
                k = len(np.unique(y[y >= 0]))
                make = partial(_same, (X, y))
                found[f"{battery}/{name}, partition {number}"] = Case(make, k, k)
    return found


def _same(data: Data, seed: int) -> Data:
    return data
