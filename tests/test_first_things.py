"""The first things people try: a short form of benchmarks/sanity.py."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE
from scedae.exceptions import UnstableClustersWarning

CASES = (
    "3 blobs, 2 columns",
    "10 blobs, 50 columns",
    "blobs of 500+60+20 rows, 5 columns",
    "blobs of 375+300+15 rows, 10 columns",
    "blobs of four widths, 2 columns",
    "moons, 300 rows",
    "circles, 1000 rows",
    "stretched, 300 rows",
    "frame around four squares",
    "ring and three groups of 10 rows",
    "repeated rows",
    "outliers, 5%",
    "wild units",
    "skewed columns",
    "flags of 20%",
    "flags, from 0 to 1",
)


@pytest.fixture(scope="module")
def cases():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent.parent / "benchmarks")
        yield importlib.import_module("sanity_cases").CASES


@pytest.mark.parametrize("name", CASES)
def test_clusters_that_anybody_sees_are_found(cases, name):
    X, y = cases[name].make(0)
    labels = (
        SCEDAE(cases[name].n_clusters, effort="fast", random_state=0).fit(X).labels_
    )
    assert adjusted_rand_score(y[y >= 0], labels[y >= 0]) > 0.97


@pytest.mark.parametrize(
    "name",
    [
        "3 blobs, 2 columns",
        "moons, 300 rows",
        "blobs of 500+60+20 rows, 5 columns",
        "spirals, 1000 rows",
        "outliers, 1%",  # rows that lie anywhere are no clusters
    ],
)
def test_they_are_counted(cases, name):
    fitted = SCEDAE("auto", effort="fast", random_state=0).fit(cases[name].make(0)[0])
    assert fitted.n_clusters_ == cases[name].truth


@pytest.mark.parametrize("name", ["one blob, 10 columns", "uniform noise, 2 columns"])
def test_where_there_are_none_the_fit_says_so(cases, name):
    with pytest.warns(UnstableClustersWarning, match="no number of clusters"):
        SCEDAE("auto", effort="fast", random_state=0).fit(cases[name].make(0)[0])


def test_with_too_few_clusters_none_is_cut(cases):
    """Six far blobs, asked for three: each lies in one cluster, and all have some."""
    X, y = cases["6 far blobs, asked for 3"].make(0)
    labels = SCEDAE(3, effort="fast", random_state=0).fit(X).labels_
    table = np.array([np.bincount(labels[y == c], minlength=3) for c in range(6)])
    assert (table > 0).sum() == 6
    assert (table.sum(0) > 0).all()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("apart", "n_far"), [(4, 4), (4, 3), (6, 4)])
def test_a_few_rows_far_out_do_not_hide_the_clusters(apart, n_far, seed):
    """They were the one thing that halves agree on, or took the place of a cluster."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 130)
    X = rng.standard_normal((390, 5)) + apart * np.eye(5)[y]
    far = 40 + 0.1 * rng.standard_normal((n_far, 5))
    fitted = SCEDAE("auto", effort="fast", random_state=seed).fit(np.vstack([X, far]))
    assert adjusted_rand_score(y, fitted.labels_[:390]) > 0.85
