"""What the steps of a fit hold beside the rows: a small part of them, not copies."""

import sys

import numpy as np
import pytest
import torch

from scedae._rows import MemoryRows, ScaledRows, fit_scaler, gather_statistics
from scedae._rows.directions import find_directions
from scedae._spectral.distances import nearest, squared_distances

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads /proc"
)


def peak() -> float:
    """Most megabytes that this process ever held, or since ``forget``."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def forget() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pytest.skip("the peak cannot be reset here")


def growth(function, *arguments) -> float:
    forget()
    before = peak()
    function(*arguments)
    return peak() - before


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    """40,000 x 784 in float32: 120 MB."""
    return np.random.default_rng(0).random((40_000, 784), dtype=np.float32)


def test_statistics_copy_few_rows_at_a_time(rows):
    few = MemoryRows(rows[:8000])
    gather_statistics(few)  # what libraries set aside at first use does not count
    assert growth(gather_statistics, MemoryRows(rows)) < 60


def test_rows_that_are_kept_are_scaled_in_place(rows):
    held = MemoryRows(rows)
    scaler = fit_scaler(gather_statistics(held), "range")

    def keep() -> None:
        kept = ScaledRows(held, scaler)
        kept._may_keep = True
        kept.take(torch.arange(5))

    keep()
    # As large as the rows, and once: parts that were joined would be there twice.
    assert growth(keep) < 1.3 * 120


def test_directions_are_found_without_further_copies(rows):
    sample = torch.from_numpy(rows[:10_000])  # 60 MB in double precision
    find_directions(sample[:2000], 20, seed=0)
    assert growth(find_directions, sample, 20, 0) < 2 * 60


def test_distances_to_the_nearest_hold_no_copy_of_the_rows(rows):
    points, targets = torch.from_numpy(rows), torch.from_numpy(rows[:64])
    index = nearest(points, targets, 3)
    assert growth(nearest, points, targets, 3) < 60
    assert growth(squared_distances, points, targets, index) < 60
