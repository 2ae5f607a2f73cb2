"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from scedae._defaults import EFFORTS
from tests.helpers import ESTIMATORS, SPECTRAL

# Signals, kills, limits and pipes as POSIX has them. Windows has none of these, and the
# package promises less there: docs/reliability.md.
POSIX_FILES = (
    "cli/test_shell.py",
    "experiments/test_stopping.py",
    "test_benchmarks.py",
    "test_chaos.py",
    "test_faults.py",
    "test_wheel.py",
)
POSIX_TESTS = (
    "test_a_killed_fit_leaves_nothing_after_the_next",
    "test_a_worker_killed_in_the_middle_changes_nothing",
    "test_kill_9_at_several_moments",
    "test_kill_9_in_the_middle_of_training",
    "test_no_permission",
    "test_predict_never_writes_over_what_it_reads",
    "test_what_a_killed_process_left_is_swept_by_the_next",
    "test_what_is_no_plain_file_is_refused_at_once",
    "test_where_there_are_no_locks_files_are_written_all_the_same",
)
collect_ignore = list(POSIX_FILES) if os.name == "nt" else []


@pytest.fixture(scope="session", autouse=True)
def the_default_does_not_refine():
    """Most tests fit small data on purpose, where refining takes longer than the rest.

    Those that concern it say ``refine=True``, or take the effort as it is shipped
    (``tests/test_refinement.py``); processes that tests start have it as shipped, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EFFORTS, "default", replace(EFFORTS["default"], refines=False))
        yield


def pytest_collection_modifyitems(items):
    if os.name != "nt":
        return
    for item in items:
        if getattr(item, "originalname", None) in POSIX_TESTS:
            item.add_marker(pytest.mark.skip(reason="Windows has nothing of the kind"))


@pytest.fixture
def blobs():
    """Three well separated clouds, 240 rows: any sound method finds them."""
    return make_blobs(240, 6, centers=3, cluster_std=0.6, random_state=0)


@pytest.fixture(scope="session")
def overlapping():
    """Clouds that run into each other: some rows are doubtful."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 5)) + 2 * rng.integers(0, 2, (300, 5))


@pytest.fixture(scope="session")
def spectral_models(overlapping):
    """One fitted estimator of each kind that has landmarks; nobody changes them."""
    return {name: ESTIMATORS[name](k=5).fit(overlapping) for name in SPECTRAL}


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
