"""Where networks earn their cost: ``fast`` from near rows alone, and with networks.

    OMP_NUM_THREADS=1 python benchmarks/rows_first.py            all sets
    OMP_NUM_THREADS=1 python benchmarks/rows_first.py --data usps text_r8_tfidf2000

Both are fitted, whatever the rule of ``scedae._rows_first`` says; what it looks at, and
what it says, is printed beside them. CPU seconds, so that other work does not count.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from quality_data import DATA, HALVES

from scedae import SCEDAE, _estimator, _pipeline
from scedae._spectral import GraphCandidate, times_the_others
from scedae.metrics import evaluate

Verdict = dict[str, Any]
is_clear = _pipeline.is_clear


def answer(verdict: Verdict, wanted: bool) -> Callable[..., bool]:
    """The rule, overruled; what it looks at is noted."""

    def overruled(best: GraphCandidate, agreement: float, n_clusters: int) -> bool:
        times = times_the_others(best.largest, n_clusters)
        verdict["neighbors"] = best.n_neighbors
        verdict["cut"] = round(100 * best.cut, 2)
        verdict["largest"] = round(times, 2)
        verdict["agreement"] = round(agreement, 3)
        verdict["clear"] = bool(is_clear(best, agreement, n_clusters))
        return wanted

    return overruled


def fit(X: np.ndarray, y: np.ndarray, seed: int, verdict: Verdict, alone: bool) -> Any:
    model = SCEDAE(len(np.unique(y)), effort="fast", random_state=seed, device="cpu")
    start = time.process_time()
    with (
        warnings.catch_warnings(),
        patch.object(_pipeline, "is_clear", answer(verdict, alone)),
        # Also where the rule is not asked: few rows, few columns.
        patch.object(_estimator, "resolve_rows_first", lambda *_: 2),
    ):
        warnings.simplefilter("ignore")
        model.fit(X)
    seconds = time.process_time() - start
    scores = {name: round(100 * s, 1) for name, s in evaluate(y, model.labels_).items()}
    return {**scores, "cpu_seconds": round(seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    for name in arguments.data or [name for half in HALVES.values() for name in half]:
        X, y = DATA[name]()
        for seed in range(arguments.seeds):
            verdict: Verdict = {}
            alone = fit(X, y, seed, verdict, True)
            networks = fit(X, y, seed, verdict, False)
            record = {"data": name, "rows": len(X), "seed": seed, **verdict}
            print(json.dumps({**record, "alone": alone, "networks": networks}))


if __name__ == "__main__":
    main()
