"""All data sets by name: what they are, where they lie, and how to load them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scedae.datasets._fetch import find_file, load
from scedae.datasets._registry import FCPS_NAMES, REGISTRY

NAMES = ("digits", "mnist", "usps", "pendigits", *FCPS_NAMES)


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set before it is loaded.

    Examples
    --------
    >>> from scedae.datasets import describe
    >>> describe("digits").embedded, describe("mnist").embedded
    (True, False)
    """

    name: str
    n_rows: int
    n_columns: int
    n_classes: int
    file: Path | None  # None: not on this machine, or part of scikit-learn

    @property
    def embedded(self) -> bool:
        return self.name == "digits"


def describe(name: str) -> DatasetInfo:
    """What a data set is, and its file if it lies on this machine.

    Parameters
    ----------
    name : str
        One of ``NAMES``.

    Returns
    -------
    info : DatasetInfo

    Examples
    --------
    >>> from scedae.datasets import describe
    >>> info = describe("mnist")
    >>> info.n_rows, info.n_columns, info.n_classes
    (70000, 784, 10)
    """
    if name == "digits":
        return DatasetInfo(name, 1797, 64, 10, None)
    entry = REGISTRY[_registered(name)]
    return DatasetInfo(name, *entry.shape, entry.n_classes, find_file(entry))


def load_by_name(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a data set; fetched where possible, and verified.

    Parameters
    ----------
    name : str
        One of ``NAMES``.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import load_by_name
    >>> X, y = load_by_name("digits")
    >>> X.shape
    (1797, 64)
    """
    if name == "digits":
        return load_digits()
    return load(_registered(name))


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """Scikit-learn's 1,797 handwritten digits of 8 x 8 pixels, values 0 … 16.

    Returns
    -------
    X : ndarray of shape (1797, 64)
    y : ndarray of shape (1797,)

    Examples
    --------
    >>> from scedae.datasets import load_digits
    >>> X, y = load_digits()
    >>> X.shape, float(X.max())
    ((1797, 64), 16.0)
    """
    from sklearn.datasets import load_digits as sklearn_digits

    return sklearn_digits(return_X_y=True)


def _registered(name: str) -> str:
    if name not in NAMES:
        raise ValueError(f"name={name!r} must be one of {', '.join(NAMES)}.")
    return f"fcps_{name}" if name in FCPS_NAMES else name
