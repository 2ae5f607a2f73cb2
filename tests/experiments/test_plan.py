"""What is run for which name."""

from collections import Counter

import pytest

from scedae.experiments.plan import PaperRun, plan_runs
from scedae.experiments.specification import NAMES, load_specification

PAPER = load_specification()


def plan(*names, data=("mnist",), n=10):
    return plan_runs(names, data, PAPER, n)


def test_rows_are_clustered_as_networks_see_them_too():
    def variants(data):
        runs = plan("baselines", data=(data,))
        return Counter((r.method, r.variant) for r in runs if not r.structure)

    both = {("kmeans", v): 10 for v in ("", "l2")}
    both |= {("lsc", v): 100 for v in ("", "l2")}
    assert variants("usps") == both
    assert set(variants("pendigits-range")) == {("kmeans", ""), ("lsc", "")}


def test_baselines_are_balanced():
    """Every encoding sees every landmark count once."""
    runs = [r for r in plan("baselines") if r.method == "dae-lsc"]
    assert len(runs) == 6 * 5 * 5 * 10
    seen = Counter((r.structure, r.initialization, r.epochs) for r in runs)
    assert set(seen.values()) == {10}
    counts = {(r.structure, r.initialization, r.epochs, r.n_landmarks) for r in runs}
    assert len(counts) == len(runs)


def test_ensembles_use_every_initialization_equally():
    runs = plan("ensembles", "landmarks")
    for method, each in (("ens-ep", 12), ("ens-landmarks", 12), ("ens-struct", 10)):
        used = Counter(r.initialization for r in runs if r.method == method)
        assert used == dict.fromkeys(range(5), each)


@pytest.mark.parametrize("fewer", [1, 3, 10])
def test_more_replicates_only_add(fewer):
    """So a folder of 3 replicates goes on to 10, and of 10 to 12."""
    names = [*NAMES]
    assert set(plan(*names, n=fewer)) < set(plan(*names, n=12))


def test_no_run_is_planned_twice():
    runs = plan(*NAMES, data=tuple(PAPER.data))
    assert len({r.key for r in runs}) == len(runs)
    assert len({r.seed(0) for r in runs}) == len(runs)


def test_tables_share_runs():
    assert set(plan("boxplots")) == set(plan("baselines", "ensembles"))
    joint = {r for r in plan("comparison") if r.experiment == "joint"}
    assert set(plan("comparison")) - joint == set(plan("boxplots"))
    assert len(joint) == 2 * 6 * 10


def test_the_comparison_has_no_pendigits():
    assert plan("comparison", data=("pendigits",)) == []
    # Joint methods were published with all rows of USPS.
    runs = plan("comparison", data=("usps-train",))
    assert runs and all(r.experiment != "joint" for r in runs)


def test_a_run_is_found_again_in_its_record():
    run = PaperRun("baselines", "usps", "dae-lsc", 3, "500-750-1000", 0, 50, 100)
    assert PaperRun.of({**vars(run), "scores": {}}) == run


def test_a_choice_that_changes_nothing_is_not_run():
    def scalings(data):
        return {r.variant for r in plan("choices", data=(data,)) if "L2" in r.variant}

    assert scalings("pendigits") == {"range instead of L2"}
    assert scalings("pendigits-range") == set()
