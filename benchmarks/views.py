"""Several views of the same rows: is the fused answer as good as the best of them?

    python benchmarks/views.py --rows 500 --out docs/results/views/fast.jsonl
    python benchmarks/views.py --table docs/results/views/fast.jsonl

For each case and seed: the adjusted Rand index of a fit on each view alone, on the
columns of all side by side as one matrix, on the views, and of ``predict`` with one of
them missing. Embeddings join without training. Labels score and do nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from quality_data import DATA
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE, View
from scedae._provenance import device_name

Views = dict[str, Any]
Case = Callable[[np.random.Generator], tuple[Views, np.ndarray]]


def halves(X: np.ndarray, height: int) -> Views:
    """Pictures as their left and their right half."""
    pictures = X.reshape(len(X), height, -1)
    middle = pictures.shape[2] // 2
    return {
        "left": pictures[:, :, :middle].reshape(len(X), -1),
        "right": pictures[:, :, middle:].reshape(len(X), -1),
    }


def drawn(name: str) -> tuple[np.ndarray, np.ndarray]:
    return DATA[name]()


def digits_halves(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return halves(X, 8), y


def digits_and_copy(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return {"rows": X, "noisy": X + rng.normal(0, 4, X.shape)}, y


def two_noisy_copies(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    first, second = (X + rng.normal(0, 6, X.shape) for _ in range(2))
    return {"first": first, "second": second}, y


def invented_texts(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
    """Words of six topics and of none as TF-IDF, and vectors around six centres."""
    n_rows, n_words, n_topics = 1200, 400, 6
    y = rng.integers(n_topics, size=n_rows)
    topics = rng.dirichlet(np.full(n_words, 0.05), size=n_topics)
    common = rng.dirichlet(np.full(n_words, 0.5))
    chances = 0.35 * topics[y] + 0.65 * common
    counts = np.stack([rng.multinomial(25, each) for each in chances])
    rarity = np.log((1 + n_rows) / (1 + (counts > 0).sum(0)))
    words = _unit(counts * rarity)
    centers = rng.normal(size=(n_topics, 96))
    vectors = _unit(0.32 * centers[y] + rng.normal(size=(n_rows, 96)))
    return {"words": words, "vectors": View(vectors, train=False)}, y


def texts(name: str) -> Case:
    """TF-IDF of every other word, and a dense embedding of the words between."""

    def case(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
        X, y = drawn(name)
        reduced = TruncatedSVD(64, random_state=0).fit_transform(X[:, 1::2])
        return {"words": X[:, ::2], "vectors": View(_unit(reduced), train=False)}, y

    return case


def pictures(name: str, height: int) -> Case:
    def case(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
        X, y = drawn(name)
        return halves(X, height), y

    return case


def digits_and_noise(n_columns: int) -> Case:
    def case(rng: np.random.Generator) -> tuple[Views, np.ndarray]:
        X, y = load_digits(return_X_y=True)
        return {"rows": X, "noise": rng.uniform(size=(len(X), n_columns))}, y

    return case


def _unit(X: np.ndarray) -> np.ndarray:
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


CASES: dict[str, Case] = {
    "digits, left and right half": digits_halves,
    "digits and a noisy copy": digits_and_copy,
    "two noisy copies of digits": two_noisy_copies,
    "invented texts: words, vectors": invented_texts,
    "digits and 64 columns of noise": digits_and_noise(64),
    "digits and 2 columns of noise": digits_and_noise(2),
}
# Those whose rows are not part of scikit-learn.
FILES: dict[str, Case] = {
    "usps, left and right half": pictures("usps", 16),
    "coil20, left and right half": pictures("coil20", 32),
    "reuters r8: words, vectors": texts("text_r8_tfidf2000"),
    "webkb: words, vectors": texts("text_webkb_tfidf2000"),
}


def _rows(view: Any) -> np.ndarray:
    return view.X if isinstance(view, View) else view


def some(view: Any, chosen: np.ndarray) -> Any:
    """Some rows of a view."""
    if isinstance(view, View):
        return View(view.X[chosen], view.train)
    return view[chosen]


def measured(
    case: str, effort: str, seed: int, device: str, most: int
) -> dict[str, Any]:
    """One line of the record, of at most so many rows."""
    make = (CASES | FILES)[case]
    views, y = make(np.random.default_rng(seed))
    chosen = np.random.default_rng(0).permutation(len(y))[:most]
    views, y = {n: some(view, chosen) for n, view in views.items()}, y[chosen]

    def model() -> SCEDAE:
        k = len(np.unique(y))
        return SCEDAE(k, effort=effort, random_state=seed, device=device)

    def score(labels: np.ndarray) -> float:
        return round(100 * adjusted_rand_score(y, labels), 2)

    begun = time.perf_counter()
    fused = model().fit(views)
    seconds = time.perf_counter() - begun
    return {
        "case": case,
        "effort": effort,
        "seed": seed,
        "device": device_name(device),
        "rows": len(y),
        "fused": score(fused.labels_),
        "alone": {n: score(model().fit_predict(_rows(v))) for n, v in views.items()},
        "one matrix": score(
            model().fit_predict(np.hstack([*map(_rows, views.values())]))
        ),
        "only at hand": {
            n: score(fused.predict({n: v}))
            for n, v in views.items()
            if not fused.views_[n].left_out
        },
        "left out": [n for n, v in fused.views_.items() if v.left_out],
        "seconds": round(seconds, 1),
    }


def table(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Means over seeds, in points of ARI, as a table of Markdown."""
    yield (
        "| views | seeds | each alone | one matrix | fused | over the best | "
        "one at hand | left out |\n|---|---|---|---|---|---|---|---|"
    )
    for case in dict.fromkeys(line["case"] for line in lines):
        own = [line for line in lines if line["case"] == case]

        def means(field: str, own: list[dict[str, Any]] = own) -> dict[str, float]:
            names = dict.fromkeys(name for each in own for name in each[field])
            return {
                n: np.mean([e[field][n] for e in own if n in e[field]]) for n in names
            }

        alone, fused = means("alone"), np.mean([e["fused"] for e in own])
        matrix = np.mean([e["one matrix"] for e in own])
        said = ", ".join(f"{n} {x:.1f}" for n, x in alone.items())
        left = ", ".join(f"{n} {x:.1f}" for n, x in means("only at hand").items())
        gone = ", ".join(
            f"{n} {sum(n in e['left out'] for e in own)}"
            for n in dict.fromkeys(n for e in own for n in e["left out"])
        )
        yield (
            f"| {case} | {len(own)} | {said} | {matrix:.1f} | {fused:.1f} | "
            f"{fused - max(alone.values()):+.1f} | {left} | {gone or '–'} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="the beginning of a case; else all")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--files", action="store_true", help="cases of the data folder")
    parser.add_argument("--out", type=Path, help="lines are added to this file")
    parser.add_argument("--table", type=Path, help="print the table of a record")
    given = parser.parse_args()
    if given.table:
        lines = [json.loads(line) for line in given.table.read_text().splitlines()]
        print("\n".join(table(lines)))
        return
    warnings.simplefilter("ignore")
    known = FILES if given.files else CASES
    for case in known:
        if given.cases and not any(case.startswith(each) for each in given.cases):
            continue
        for seed in range(given.seeds):
            line = json.dumps(
                measured(case, given.effort, seed, given.device, given.rows)
            )
            print(line, flush=True)
            if given.out:
                with given.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
