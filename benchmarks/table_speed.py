"""Seconds to encode a large table.

    python benchmarks/table_speed.py [--rows 1000000]

30 mixed columns (15 numbers with gaps, 10 categories, 5 dates) by ``TableEncoder``,
beside the same steps written with polars and scikit-learn: median, logarithm where it
is used, standardising, one-hot blocks. Both learn and apply.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl
from measure import device_name
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from scedae import TableEncoder


def mixed(n_rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    frame = {}
    for j in range(15):
        values = rng.normal(size=n_rows)
        values[rng.random(n_rows) < 0.05] = np.nan
        frame[f"number_{j}"] = values
    for j in range(10):
        levels = np.array([f"level {i}" for i in range(3 + 2 * j)])
        frame[f"category_{j}"] = levels[rng.integers(0, len(levels), n_rows)]
    for j in range(5):
        days = rng.integers(0, 3000, n_rows).astype("timedelta64[D]")
        frame[f"date_{j}"] = np.datetime64("2015-01-01") + days
    return pl.DataFrame(frame)


def by_hand(frame: pl.DataFrame) -> np.ndarray:
    """The same steps with polars and scikit-learn."""
    numbers = [c for c in frame.columns if not c.startswith("category")]
    categories = [c for c in frame.columns if c.startswith("category")]
    dates = [c for c in numbers if c.startswith("date")]
    plain = frame.with_columns(
        pl.col(dates).cast(pl.Datetime("us")).cast(pl.Int64) / 8.64e10
    )
    steps = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (
                "categories",
                OneHotEncoder(sparse_output=False, dtype=np.float32),
                categories,
            ),
        ]
    )
    return steps.fit_transform(plain).astype(np.float32)


def timed(work, *given):
    begun = time.perf_counter()
    work(*given)
    return time.perf_counter() - begun


def encode(n_rows: int) -> None:
    frame = mixed(n_rows)
    ours = min(timed(TableEncoder().fit_transform, frame) for _ in range(2))
    theirs = min(timed(by_hand, frame) for _ in range(2))
    print(
        f"encode {n_rows:,} x 30: {ours:.1f} s, polars and scikit-learn "
        f"{theirs:.1f} s, ratio {ours / theirs:.2f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    print(device_name("cpu"))
    encode(given.rows)
