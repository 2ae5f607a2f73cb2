"""The published values are quoted without a slip, and the settings are the paper's."""

from collections import Counter
from itertools import groupby
from statistics import fmean

import pytest

from scedae import SCEDAE
from scedae.experiments.other_tails import OtherTail
from scedae.experiments.results.paper_tables import METHOD_TITLES
from scedae.experiments.results.published import published_values
from scedae.experiments.specification import load_specification
from scedae.internal import Variation

VALUES = published_values()


def test_number_of_values_in_each_table():
    """Two or four columns of 6 structures, three data sets, and so on."""
    counts = Counter((value.name, value.metric) for value in VALUES)
    three = {"acc", "nmi", "ari"}
    assert counts == {
        **{("baselines", metric): 3 * (2 + 2 * 6) for metric in three},
        **{("ensembles", metric): 3 * (2 * 6 + 1) for metric in three},
        ("landmarks", "acc"): 3 * 6,
        ("comparison", "acc"): 2 * 13,
        ("comparison", "nmi"): 2 * 13,
        ("fcps", "acc"): 3 * 3,
    }


@pytest.mark.parametrize("data", ["mnist", "usps"])
@pytest.mark.parametrize("metric", ["acc", "nmi"])
def test_comparison_is_the_mean_of_the_other_tables(data, metric):
    """The paper's own arithmetic, so a slip in copying would show."""

    def pairs(table, method):
        return [
            (value.mean, value.spread)
            for value in VALUES
            if (value.name, value.data, value.metric) == (table, data, metric)
            and value.method == method
        ]

    for table, methods in (
        ("baselines", ("kmeans", "lsc", "dae-kmeans", "dae-lsc")),
        ("ensembles", ("ens-init", "ens-ep", "ens-struct")),
    ):
        for method in methods:
            parts = pairs(table, method)
            ((mean, spread),) = pairs("comparison", method)
            assert mean == pytest.approx(fmean(p[0] for p in parts), abs=0.011)
            # One printed spread (1.20, for 500-1000-750) cannot be the one averaged.
            if (data, metric, method) != ("mnist", "nmi", "dae-lsc"):
                assert spread == pytest.approx(fmean(p[1] for p in parts), abs=0.011)


def test_settings_are_the_papers():
    paper = load_specification()
    assert len(set(paper.structures)) == 6
    assert all(sorted(s) == [500, 750, 1000] for s in paper.structures)
    assert paper.epochs == (50, 100, 150, 200, 250)
    assert sorted(paper.landmarks) == list(range(100, 1001, 100))
    assert (paper.maps["mnist"].perplexity, paper.maps["usps"].perplexity) == (40, 25)
    assert [entry.subset for entry in paper.data.values()] == [
        "train",
        "all",
        "train",
        "train",
        "train",
    ]


def test_few_replicates_see_landmark_counts_of_the_whole_range():
    paper = load_specification()
    for n in (2, 3, 5):
        assert 400 <= fmean(paper.landmarks[:n]) <= 800


def test_quick_is_smaller_and_says_so():
    paper, quick = load_specification(), load_specification(quick=True)
    assert quick.is_quick and not paper.is_quick
    assert quick.replicates < paper.replicates
    assert quick.max_rows < 7291 and paper.max_rows is None
    assert quick.widths((500, 750, 1000)) == (50, 75, 100)
    # What it does not change is the paper's.
    assert quick.shapes.epochs == paper.shapes.epochs
    assert quick.structures == paper.structures


def test_every_method_has_a_title():
    assert {value.method for value in VALUES} <= set(METHOD_TITLES)


def test_each_table_is_named():
    for _, own in groupby(VALUES, lambda value: (value.name, value.metric)):
        assert len({value.table for value in own}) == 1


def test_the_preset_has_the_batches_that_explain_most_and_the_tables_their_own():
    assert SCEDAE.paper(10).batch_size == 32
    assert SCEDAE.paper(10, batch_size=256).batch_size == 256
    assert load_specification().batch_size == 256
    assert load_specification(quick=True).batch_size == 256


def test_readings_say_what_can_be_done():
    """A slip in a name is found here, and not in the middle of a long run."""
    paper = load_specification()
    seen = set()
    for reading in paper.readings.values():
        tail, network = OtherTail(**reading.tail), Variation(**reading.network)
        SCEDAE.paper(10, **reading.training)
        assert set(reading.averaged) <= {"landmarks", "epochs"}
        assert reading.data and set(reading.data) <= set(paper.data)
        training = (*reading.training.items(), reading.initializations)
        seen.add((tail, network, training, reading.averaged))
    assert len(seen) == len(paper.readings)  # no two are the same
