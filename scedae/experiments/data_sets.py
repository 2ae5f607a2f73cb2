"""The rows of the paper's data sets, loaded once a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scedae import datasets
from scedae.experiments.specification import Specification


@dataclass(frozen=True)
class DataSet:
    """Rows to cluster, and classes to score with."""

    rows: np.ndarray  # (n, d)
    classes: np.ndarray  # (n,)

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.classes))


def load_data(specification: Specification, key: str) -> DataSet:
    """The rows of the tables."""
    entry = specification.data[key]
    return _load(entry.source, entry.subset, specification.max_rows)


def load_for_joint(
    specification: Specification, key: str, units_of: str | None
) -> DataSet:
    """The rows that DCN, IDEC and DKM were published with, in [0, 1] or its units."""
    entry = specification.data[key]
    assert entry.joint_subset is not None
    data = _load(entry.source, entry.joint_subset, specification.max_rows)
    low, high = entry.joint_ranges.get(units_of or "", (0.0, 1.0))
    return DataSet(low + (high - low) * data.rows, data.classes)


@lru_cache(maxsize=2)
def _load(source: str, subset: str, max_rows: int | None) -> DataSet:
    loaders = {
        "mnist": datasets.load_mnist,
        "usps": datasets.load_usps,
        "pendigits": datasets.load_pendigits,
    }
    X, y = loaders[source](subset)
    return DataSet(X[:max_rows], y[:max_rows])
