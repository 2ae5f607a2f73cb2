"""Data: an embedded set, generated shapes, and loaders that verify what they read.

``load_digits`` and the ``make_`` functions need no download. The other loaders look
into the folder named by ``SCEDAE_DATA``, then the user's cache, then ask OpenML.
"""

from __future__ import annotations

import numpy as np

from scedae.datasets._catalogue import (
    NAMES,
    DatasetInfo,
    describe,
    load_by_name,
    load_digits,
)
from scedae.datasets._fetch import load as _load
from scedae.datasets._lift import LIFTS, lift
from scedae.datasets._registry import FCPS_NAMES
from scedae.datasets._shapes import make_chainlink, make_lsun, make_tetra

__all__ = [
    "FCPS_NAMES",
    "LIFTS",
    "NAMES",
    "DatasetInfo",
    "describe",
    "lift",
    "load_by_name",
    "load_digits",
    "load_fcps",
    "load_mnist",
    "load_pendigits",
    "load_usps",
    "make_chainlink",
    "make_lsun",
    "make_tetra",
]

Data = tuple[np.ndarray, np.ndarray]


def load_mnist(subset: str = "all") -> Data:
    """70,000 handwritten digits of 28 x 28 pixels, values 0 … 255.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All rows, the first 60,000, or the last 10,000.

    Returns
    -------
    X : ndarray of shape (n_samples, 784), uint8
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import load_mnist
    >>> X, y = load_mnist()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (70000, 784)
    """
    return _load("mnist", subset)


def load_usps(subset: str = "all") -> Data:
    """9,298 handwritten digits of 16 x 16 pixels, values in [0, 1].

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All rows, the first 7,291, or the last 2,007.

    Returns
    -------
    X : ndarray of shape (n_samples, 256), float32
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import load_usps
    >>> X, y = load_usps()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (9298, 256)
    """
    return _load("usps", subset)


def load_pendigits(subset: str = "all") -> Data:
    """10,992 digits written on a tablet, as 8 pen positions with values 0 … 100.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All rows, the first 7,494, or the last 3,498.

    Returns
    -------
    X : ndarray of shape (n_samples, 16), uint8
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from scedae.datasets import load_pendigits
    >>> X, y = load_pendigits()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10992, 16)
    """
    return _load("pendigits", subset)


def load_fcps(name: str) -> Data:
    """A shape of the Fundamental Clustering Problems Suite, from its file.

    Parameters
    ----------
    name : str
        One of ``FCPS_NAMES``, e.g. "tetra", "chainlink" or "lsun".

    Returns
    -------
    X : ndarray of shape (n_samples, 2 or 3)
    y : ndarray of shape (n_samples,), from 1

    Examples
    --------
    >>> from scedae.datasets import FCPS_NAMES, load_fcps
    >>> "chainlink" in FCPS_NAMES
    True
    >>> X, y = load_fcps("chainlink")  # doctest: +SKIP
    """
    if name not in FCPS_NAMES:
        raise ValueError(f"name={name!r} must be one of {', '.join(FCPS_NAMES)}.")
    return _load(f"fcps_{name}")
