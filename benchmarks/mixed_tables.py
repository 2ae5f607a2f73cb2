"""Mixed tables with known clusters: scedae beside k-prototypes and FAMD + k-means.

Three tables as offices and clinics have them: numbers (some skewed), categories (some
rare), truth values, dates, gaps, and columns that say nothing. The two peers are
written here in a few lines, from their publications: k-prototypes (Huang 1998) and
factor analysis of mixed data (Pagès 2004) followed by k-means. They get the same
columns, typed by hand, with gaps filled by median and mode. Beside them k-means on what
``TableEncoder`` makes of the table. ``--variants`` adds SCEDAE without the parameters
that ``make_table_pipeline`` sets for tables: all of them, members, or graph.

    python benchmarks/mixed_tables.py [--seeds 3] [--first 0] [--variants]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import polars as pl
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from scedae import TableEncoder, make_table_pipeline


@dataclass(frozen=True)
class Mixed:
    """A table and its clusters."""

    name: str
    frame: pl.DataFrame
    classes: np.ndarray


def categories(rng, classes, levels, strength):
    """Levels of which each class prefers one; the rest is drawn evenly."""
    favourite = rng.permutation(max(len(levels), classes.max() + 1)) % len(levels)
    own = np.asarray(levels)[favourite[classes]]
    drawn = rng.choice(levels, len(classes))
    return np.where(rng.random(len(classes)) < strength, own, drawn)


def numbers(rng, classes, distance):
    """Normal numbers whose means lie ``distance`` deviations apart, in any order."""
    means = rng.permutation(classes.max() + 1) * distance
    return rng.normal(means[classes], 1.0)


def with_gaps(rng, values, share):
    texts = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in values.tolist()]
    gaps = rng.random(len(texts)) < share
    return ["NA" if gap else text for gap, text in zip(gaps, texts, strict=True)]


def customers(seed):
    """Five groups of unequal size, half of the columns numbers."""
    rng = np.random.default_rng(seed)
    classes = rng.choice(5, 1500, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    days = np.datetime64("2019-01-01") + (200 * numbers(rng, classes, 1.5)).astype(int)
    frame = pl.DataFrame(
        {
            "customer_id": [f"C{i:06d}" for i in range(1500)],
            "age": (45 + 6 * numbers(rng, classes, 1.5)).round(),
            "income": with_gaps(rng, np.exp(9 + 0.5 * numbers(rng, classes, 1.5)), 0.1),
            "visits": np.exp(0.8 * numbers(rng, classes, 1)).round(),
            "balance": with_gaps(rng, numbers(rng, classes, 1.5), 0.05),
            "plan": categories(rng, classes, ["free", "plus", "pro", "team"], 0.75),
            "country": categories(rng, classes, [f"c{i}" for i in range(12)], 0.6),
            "channel": with_gaps(
                rng, categories(rng, classes, ["web", "shop", "phone"], 0.7), 0.1
            ),
            "newsletter": categories(rng, classes, ["yes", "no"], 0.6),
            "since": days,
            "lucky_number": rng.integers(0, 1000, 1500),
            "colour": rng.choice(["red", "green", "blue"], 1500),
        }
    )
    return Mixed("customers", frame, classes)


def patients(seed):
    """Four groups that mostly categories tell apart."""
    rng = np.random.default_rng(seed)
    classes = rng.choice(4, 1000, p=[0.4, 0.3, 0.2, 0.1])
    symptoms = {
        f"symptom_{i}": categories(rng, classes, ["none", "mild", "severe"], 0.6)
        for i in range(6)
    }
    frame = pl.DataFrame(
        {
            "age": (50 + 10 * numbers(rng, classes, 1)).round(),
            "pressure": with_gaps(rng, 120 + 12 * numbers(rng, classes, 1), 0.15),
            **symptoms,
            "smoker": categories(rng, classes, ["yes", "no"], 0.6),
            "blood": rng.choice(["A", "B", "AB", "0"], 1000),
            "ward": categories(rng, classes, list("KLMNOP"), 0.5),
        }
    )
    return Mixed("patients", frame, classes)


def machines(seed):
    """Six kinds that mostly numbers tell apart, some of them skewed."""
    rng = np.random.default_rng(seed)
    classes = rng.choice(6, 2000)
    skewed = {
        f"vibration_{i}": np.exp(0.7 * numbers(rng, classes, 1.2)) for i in range(3)
    }
    frame = pl.DataFrame(
        {
            "temperature": 60 + 4 * numbers(rng, classes, 1.5),
            "load": with_gaps(rng, 40 + 9 * numbers(rng, classes, 1.5), 0.08),
            "current": numbers(rng, classes, 1.5),
            **skewed,
            "maker": categories(rng, classes, ["Ada", "Brix", "Cole", "Dorn"], 0.5),
            "site": rng.choice([f"site {i}" for i in range(8)], 2000),
            "serviced": categories(rng, classes, ["true", "false"], 0.4),
        }
    )
    return Mixed("machines", frame, classes)


TABLES = (customers, patients, machines)


def typed(frame):
    """Standardised numbers and codes of categories, typed by hand and filled."""
    plain, codes = [], []
    for column in frame.iter_columns():
        if column.name == "customer_id":
            continue
        if column.dtype == pl.Date or column.dtype == pl.Datetime:
            column = column.cast(pl.Datetime("us")).cast(pl.Int64)
        if column.dtype == pl.String:
            column = column.replace("NA", None)
            read = column.cast(pl.Float64, strict=False)
            if read.null_count() > len(read) / 2:
                filled = column.fill_null(column.drop_nulls().mode().sort()[0])
                codes.append(filled.rank("dense").to_numpy() - 1)
                continue
            column = read
        values = column.fill_null(column.median()).to_numpy().astype(float)
        plain.append((values - values.mean()) / values.std())
    return np.column_stack(plain), np.column_stack(codes).astype(int)


def k_prototypes(frame, k, seed):
    """Lloyd's rounds with means and modes; the best of ten starts."""
    X, codes = typed(frame)
    # Huang's advice: half of the mean deviation of the numbers.
    gamma = 0.5 * X.std(axis=0).mean()
    rng = np.random.default_rng(seed)
    runs = (_prototypes(X, codes, k, gamma, rng) for _ in range(10))
    return min(runs, key=lambda run: run[0])[1]


def _prototypes(X, codes, k, gamma, rng):
    chosen = rng.choice(len(X), k, replace=False)
    means, modes = X[chosen], codes[chosen]
    for _ in range(50):
        cost = ((X[:, None] - means) ** 2).sum(2)
        cost += gamma * (codes[:, None] != modes).sum(2)
        labels = cost.argmin(1)
        for c in np.unique(labels):
            mine = labels == c
            means[c] = X[mine].mean(0)
            modes[c] = [np.bincount(column).argmax() for column in codes[mine].T]
    return cost.min(1).sum(), labels


def famd_kmeans(frame, k, seed):
    """k-means on the first k - 1 components (at least two) of the mixed data."""
    X, codes = typed(frame)
    blocks = [X]
    for column in codes.T:
        indicators = np.eye(column.max() + 1)[column]
        indicators = indicators[:, indicators.any(0)]
        shares = indicators.mean(0)
        blocks.append((indicators - shares) / np.sqrt(shares))
    Z = np.hstack(blocks)
    U, s, _ = np.linalg.svd(Z - Z.mean(0), full_matrices=False)
    points = (U * s)[:, : max(k - 1, 2)]
    return KMeans(k, n_init=20, random_state=seed).fit_predict(points)


def encoder_kmeans(frame, k, seed):
    rows = TableEncoder().fit_transform(frame)
    return KMeans(k, n_init=20, random_state=seed).fit_predict(rows)


def ours(**parameters):
    """Clusters of a pipeline with other parameters than those for tables."""

    def run(frame, k, seed):
        pipeline = make_table_pipeline(k, random_state=seed, **parameters)
        return pipeline.fit_predict(frame)

    return run


METHODS = {
    "k-prototypes": k_prototypes,
    "FAMD + k-means": famd_kmeans,
    "encoder + k-means": encoder_kmeans,
    "scedae": ours(),
}
_MEMBERS = {"n_members": None, "n_row_members": None}
_GRAPH = {"n_landmarks": "auto", "n_neighbors": "auto"}
VARIANTS = {
    "usual members": ours(**_MEMBERS),
    "usual graphs": ours(**_GRAPH),
    "usual both": ours(**_MEMBERS, **_GRAPH),
    "SCEDAE(k)": ours(**_MEMBERS, **_GRAPH, scale="auto"),
}


def main(first, n_seeds, variants):
    methods = METHODS | (VARIANTS if variants else {})
    print(f"| ARI, mean of {n_seeds} | {' | '.join(methods)} |")
    print("|---" * (len(methods) + 1) + "|")
    for make in TABLES:
        scores = {name: [] for name in methods}
        for seed in range(first, first + n_seeds):
            table = make(seed)
            k = len(np.unique(table.classes))
            for name, method in methods.items():
                found = method(table.frame, k, seed)
                scores[name].append(adjusted_rand_score(table.classes, found))
        cells = (f"{100 * np.mean(each):.1f}" for each in scores.values())
        print(f"| {make.__name__} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--variants", action="store_true")
    given = parser.parse_args()
    main(given.first, given.seeds, given.variants)
