"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs


@pytest.fixture
def blobs():
    """Three well separated clouds, 240 rows: any sound method finds them."""
    return make_blobs(240, 6, centers=3, cluster_std=0.6, random_state=0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def data_folder():
    """The folder of real data sets; the test is skipped without it."""
    folder = os.environ.get("SCEDAE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SCEDAE_DATA does not name a folder of data sets")
    return Path(folder)
