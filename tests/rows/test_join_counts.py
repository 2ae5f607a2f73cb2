"""Join counts: whether near rows by the other columns agree on a column."""

import numpy as np
import pytest

from scedae._rows.join_counts import known_to_others


def table(rng, n_rows=500):
    """Two clusters in four columns; flags that follow them, or nothing."""
    y = rng.integers(0, 2, n_rows)
    clusters = rng.standard_normal((n_rows, 4)) + 3 * y[:, None]
    follows = np.where(rng.random(n_rows) < 0.9, y, 1 - y)
    return np.column_stack([clusters, follows, rng.random(n_rows) < 0.3])


def test_a_flag_that_follows_the_others_is_known(rng):
    tested = np.array([False] * 4 + [True] * 2)
    known = known_to_others(table(rng), tested)
    assert known.tolist() == [True] * 5 + [False]


def test_columns_that_are_not_tested_are_known(rng):
    assert known_to_others(table(rng), np.zeros(6, dtype=bool)).all()


@pytest.mark.parametrize("n_columns", [1, 3])
def test_where_none_would_be_left_all_stay(rng, n_columns):
    flags = (rng.random((400, n_columns)) < 0.5) * 1.0
    assert known_to_others(flags, np.ones(n_columns, dtype=bool)).all()


def test_few_rows_are_not_asked(rng):
    assert known_to_others(table(rng, 8), np.ones(6, dtype=bool)).all()


def test_chance_is_seldom_taken_for_knowledge(rng):
    """Three standard errors: less than one flag of noise in a hundred passes."""
    passed = 0
    for _ in range(20):
        solid = rng.standard_normal((300, 5))
        flags = rng.random((300, 10)) < rng.uniform(0.05, 0.5, 10)
        tested = np.array([False] * 5 + [True] * 10)
        passed += known_to_others(np.hstack([solid, flags]), tested)[5:].sum()
    assert passed <= 4  # of 200


def test_flags_of_noise_do_not_know_each_other(rng):
    """Many rows are equally near by a few flags: each asks others of them."""
    told_apart = 0
    for _ in range(20):
        flags = (rng.random((500, 4)) < 0.3) * 1.0
        # Where none is known, all stay.
        told_apart += not known_to_others(flags, np.ones(4, dtype=bool)).all()
    assert told_apart <= 3  # of 20


def test_a_constant_column_does_not_hold_a_place(rng):
    flags = (rng.random((400, 3)) < 0.5) * 1.0
    values = np.column_stack([flags, np.full(400, 5.0)])
    assert known_to_others(values, np.array([True] * 3 + [False])).all()


def test_a_column_does_not_say_which_rows_are_near_it(rng):
    """Else every flag would be known, to itself."""
    values = np.column_stack([rng.standard_normal(300), (rng.random(300) < 0.5) * 99.0])
    assert known_to_others(values, np.array([False, True])).tolist() == [True, False]


def test_wide_tables_are_asked_in_part(rng):
    y = rng.integers(0, 2, 300)
    wide = rng.standard_normal((300, 400)) + 2 * y[:, None]
    values = np.column_stack([wide, y, rng.permutation(y)])
    tested = np.array([False] * 400 + [True] * 2)
    assert known_to_others(values, tested)[400:].tolist() == [True, False]
