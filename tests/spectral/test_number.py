"""The gap in units of a cloud, and which numbers are worth a look."""

import numpy as np
import pytest

from scedae._spectral.number import (
    Candidate,
    Evidence,
    best_of_each,
    candidate,
    candidates_for,
    counted,
    relative_gap,
)


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_a_cloud_has_a_gap_of_two_over_its_dimension(dimension, k):
    leaving = 0.005 * np.arange(1, 12) ** (2 / dimension)  # Weyl's law
    assert leaving.max() < 1
    gap = relative_gap(np.sqrt(1 - leaving), k)
    assert gap == pytest.approx(2 / dimension, rel=0.03)


def test_pieces_have_a_gap_at_their_number_alone():
    values = np.sqrt(
        [1, 1, 1, 0.9, 0.85, 0.8]
    )  # four pieces, the trivial value is gone
    gaps = [relative_gap(values, k) for k in range(2, 7)]
    assert int(np.argmax(gaps)) + 2 == 4
    assert gaps[0] == gaps[1] == 0


def test_what_is_never_left_has_no_gaps():
    """Between 1e-12 and 1e-9 there are three orders of magnitude, and no clusters."""
    values = np.sqrt(1 - np.array([1e-12, 1e-9, 1e-8]))
    assert relative_gap(values, 2) < 1e-3


def test_the_score_needs_both_kinds_of_evidence():
    assert candidate([Evidence(3, 2.0, 1.0, 3)]).score == 2
    assert candidate([Evidence(3, 2.0, 0.5, 3)]).score < 2 / 50
    assert candidate([Evidence(2, -1.0, 1.0, 2)]).score == 0


def test_evidence_is_the_mean_over_graphs():
    both = candidate([Evidence(3, 2.0, 1.0, 3), Evidence(3, 4.0, 0.5, 3)])
    assert (both.n_clusters, both.gap, both.stability) == (3, 3, 0.75)
    assert both.score == pytest.approx((2 + 4 * 0.5**6) / 2)


def test_clusters_of_a_few_rows_are_not_counted():
    assert counted(np.repeat(np.arange(5), [80, 5, 4, 1, 30])) == 3
    assert counted(np.repeat(np.arange(4), [20, 15, 2, 1])) == 3  # of 38 rows, 2
    assert counted(np.array([0, 2, 2])) == 2


def test_what_one_graph_takes_for_outliers_is_no_cluster():
    assert (
        candidate([Evidence(6, 2.0, 1.0, 6), Evidence(6, 2.0, 1.0, 4)]).n_clusters == 4
    )
    assert candidate([Evidence(2, 2.0, 1.0, 0)]).n_clusters == 1


def test_what_was_found_is_told_beside_what_counts():
    found = candidate([Evidence(6, 2.0, 1.0, 6), Evidence(6, 2.0, 1.0, 4)])
    assert (found.n_clusters, found.n_found) == (4, 6)


def test_each_number_is_named_once_by_its_best_evidence():
    found = best_of_each(
        [Candidate(4, 1, 1, 1.0), Candidate(5, 1, 1, 2.0), Candidate(4, 1, 1, 3.0)]
    )
    assert [(each.n_clusters, each.score) for each in found] == [(4, 3.0), (5, 2.0)]


@pytest.mark.parametrize(
    ("n_rows", "n_landmarks", "most", "last"),
    [(1000, 250, 30, 30), (40, 40, 30, 8), (1000, 12, 30, 12), (3, 3, 30, 2)],
)
def test_numbers_worth_a_look(n_rows, n_landmarks, most, last):
    assert candidates_for(n_rows, n_landmarks, most) == range(2, last + 1)
