"""Rows first: networks are trained only where near rows fall into no clear clusters."""

import warnings

import joblib
import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs

from scedae import SCEDAE, _defaults
from scedae._anchoring import Anchoring, GraphChoice
from scedae._rows_first import is_clear
from scedae._spectral import GraphCandidate, search
from scedae.metrics import clustering_accuracy
from scedae.report import write_report


@pytest.fixture(autouse=True)
def few_rows_are_enough(monkeypatch):
    monkeypatch.setattr(_defaults, "SMALL_DATA_ROWS", 500)
    # As if they were few all the same: the networks of these tests stay small.
    monkeypatch.setattr(_defaults, "MEDIUM_LAYERS", _defaults.SMALL_LAYERS)


@pytest.fixture(scope="module")
def clear():
    return make_blobs(700, 6, centers=4, cluster_std=0.8, random_state=3)


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).uniform(size=(600, 5))


def fast(**parameters):
    return SCEDAE(4, effort="fast", random_state=0, device="cpu", **parameters)


def networks(model):
    return [report for report in model.members_ if report.spec.hidden_layers]


def test_clear_clusters_need_no_network(clear):
    X, y = clear
    fitted = fast().fit(X)
    assert not networks(fitted) and len(fitted.members_) == 2
    assert clustering_accuracy(y, fitted.labels_) == 1
    assert [graph.n_neighbors for graph in fitted.candidates_] == [5, 10]
    (graph,) = (each for each in fitted.candidates_ if each.chosen)
    assert graph.n_landmarks == 630 and graph.cut < 0.1 and graph.largest < 0.5
    # Each member is among others, so that halves of the ensemble can differ.
    first, second = (member.landmarks for member in fitted.pipeline_.members)
    assert len(first) == len(second) == 630 and not first.equal(second)
    assert fitted.stability_ > 0.9


def test_the_answer_is_what_was_judged(monkeypatch):
    """Of rows without clusters, where few starts of k-means end elsewhere."""
    X = np.random.default_rng(0).standard_normal((1500, 8))
    chosen, judged = Anchoring.choose, {}

    def noted(self, n_clusters):
        choice = chosen(self, n_clusters)
        place = [graph.chosen for graph in choice.said].index(True)
        judged["labels"] = choice.opinions[place]
        return choice

    monkeypatch.setattr(Anchoring, "choose", noted)
    monkeypatch.setattr("scedae._pipeline.is_clear", lambda *_: True)
    fitted = SCEDAE(12, effort="fast", random_state=0, device="cpu").fit(X)
    np.testing.assert_array_equal(fitted.labels_, judged["labels"])


def test_others_do(noise):
    with pytest.warns(UserWarning, match="no sure thing"):
        fitted = fast().fit(noise)
    assert len(networks(fitted)) == 2
    assert len(fitted.candidates_) > 1


def test_the_answer_with_networks_is_as_if_rows_had_not_been_tried(noise, monkeypatch):
    after = fast().fit(noise)
    monkeypatch.setattr(_defaults, "_MOST_NEAREST_ROWS", 0)  # never tried
    np.testing.assert_array_equal(fast().fit(noise).labels_, after.labels_)


@pytest.mark.parametrize(
    "said",
    [
        {"n_members": 2},
        {"hidden_layers": (16, 8)},
        {"epochs": 3},
        {"learning_rate": 1e-3},
        {"n_landmarks": 100},
        {"n_neighbors": 3},
        {"embedding": "lsc"},
        {"ensemble": "initialization", "n_members": 2},
    ],
)
def test_who_says_something_of_members_or_graphs_gets_networks(clear, said):
    fitted = fast(**{"epochs": 2, **said}).fit(clear[0])
    assert networks(fitted)


def test_the_default_refines_what_rows_say(clear):
    fitted = SCEDAE(4, random_state=0, device="cpu", refine=True).fit(clear[0])
    assert not networks(fitted) and fitted.refinement_.kept
    assert clustering_accuracy(clear[1], fitted.labels_) == 1
    np.testing.assert_array_equal(fitted.predict(clear[0]), fitted.labels_)


def test_counting_and_very_many_rows_train(clear, monkeypatch):
    counted = SCEDAE("auto", effort="fast", random_state=0, device="cpu").fit(clear[0])
    assert networks(counted) and counted.n_clusters_ == 4
    monkeypatch.setattr(_defaults, "_MOST_NEAREST_ROWS", 600)
    assert networks(fast().fit(clear[0]))


def test_the_best_effort_does_not_look():
    plan = _defaults.EFFORTS["fast"]
    best = _defaults.EFFORTS["best"]
    assert _defaults.resolve_rows_first(9000, 6, 9, plan) == 2
    assert _defaults.resolve_rows_first(9000, 6, 9, best) == 0


def test_of_very_many_clusters_the_look_would_cost_too_much():
    plan = _defaults.EFFORTS["fast"]
    assert _defaults.resolve_rows_first(90_000, 20, 11, plan) == 2
    assert _defaults.resolve_rows_first(90_000, 20, 200, plan) == 0


def test_few_columns_would_fall_into_crumbs(rng):
    plan = _defaults.EFFORTS["default"]
    assert _defaults.resolve_rows_first(9000, 5, 9, plan) == 0
    X = np.concatenate([rng.normal(c, 0.5, (450, 2)) for c in (0.0, 9.0)])
    fitted = SCEDAE(2, effort="fast", random_state=0, device="cpu").fit(X)
    assert networks(fitted) and np.bincount(fitted.labels_).tolist() == [450, 450]


def a_graph(cut, largest):
    return GraphCandidate(630, 8, cut=cut, largest=largest, score=0.1, chosen=True)


@pytest.mark.parametrize(
    ("cut", "largest", "agreement", "clear"),
    [
        (0.05, 0.3, 1.0, True),
        (0.10, 0.39, 0.94, True),  # just below twice the mean of the three others
        (0.11, 0.3, 1.0, False),  # few ties hold together
        (0.05, 0.41, 1.0, False),  # crumbs, and a cluster of all the rest
        (0.05, 0.3, 0.92, False),  # a few ties more make other clusters
    ],
)
def test_what_is_clear(cut, largest, agreement, clear):
    assert is_clear(a_graph(cut, largest), agreement, 4) == clear


def test_of_two_clusters_one_may_not_be_nearly_everything():
    assert is_clear(a_graph(0.01, 0.6), 1.0, 2)
    assert not is_clear(a_graph(0.01, 0.9), 1.0, 2)
    assert not is_clear(a_graph(0.0, 1.0), 1.0, 2)
    assert is_clear(a_graph(0.0, 1.0), 1.0, 1)


def test_graphs_are_compared_by_what_they_make_of_the_same_rows():
    labels = np.repeat(np.arange(4), 25)
    moved = np.where(np.arange(100) < 6, 1, labels)
    tried = (a_graph(0.01, 0.3),)
    same = GraphChoice(None, tried, (labels, (labels + 1) % 4))
    assert same.agreement == pytest.approx(1)
    assert GraphChoice(None, tried, (labels, moved)).agreement < 0.9


def test_new_rows_go_the_same_way(clear, tmp_path):
    X, _ = clear
    fitted = fast().fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_array_equal(fitted.predict_proba(X), fitted.probabilities_)
    np.testing.assert_array_equal(fitted.predict(X[40:41]), fitted.labels_[40:41])
    fitted.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    assert loaded.candidates_ == fitted.candidates_
    np.testing.assert_array_equal(loaded.predict_confidence(X), fitted.confidence_)


def test_new_rows_are_searched_for_by_the_same_cells(rng, tmp_path, monkeypatch):
    monkeypatch.setitem(search._FEW_POINTS, "cpu", 300)
    X = np.concatenate([rng.normal(c, 1, (900, 6)) for c in (0, 9)])
    fitted = SCEDAE(2, effort="fast", random_state=0, device="cpu").fit(X)
    first, second = fitted.pipeline_.members
    assert not networks(fitted) and first.cells.equal(second.cells)
    np.testing.assert_array_equal(fitted.predict_confidence(X), fitted.confidence_)
    fitted.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    np.testing.assert_array_equal(loaded.pipeline_.members[0].cells, first.cells)
    some = X[50:60]
    np.testing.assert_array_equal(
        loaded.predict_proba(some), fitted.probabilities_[50:60]
    )


@pytest.mark.parametrize("number", [1, 2, 3])
def test_threads_do_not_matter(clear, monkeypatch, number):
    """Two try two graphs side by side, three one after the other."""
    monkeypatch.setitem(search._FEW_POINTS, "cpu", 300)
    expected = fast().fit(clear[0])
    monkeypatch.setattr(joblib, "cpu_count", lambda: number)
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        fitted = fast().fit(clear[0])
    finally:
        torch.set_num_threads(before)
    assert fitted.candidates_ == expected.candidates_
    np.testing.assert_array_equal(fitted.embedding_, expected.embedding_)
    np.testing.assert_array_equal(fitted.probabilities_, expected.probabilities_)
    assert fitted.stability_ == expected.stability_


def test_cells_are_made_once(clear):
    member = fast().fit(clear[0]).pipeline_.members[0]
    assert member.to(member.landmarks.device) is member


def test_of_many_columns_members_see_the_leading_directions(rng, tmp_path):
    centers = rng.standard_normal((4, 60))
    X = np.repeat(3 * centers, 150, axis=0) + rng.standard_normal((600, 60))
    fitted = fast().fit(X)
    assert not networks(fitted)
    assert {m.landmarks.shape[1] for m in fitted.pipeline_.members} == {50}
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    fitted.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    np.testing.assert_array_equal(loaded.predict(X), fitted.labels_)
    # Columns that were not turned are not in order of what they tell.
    fitted = fast(n_directions=None).fit(X)
    assert {m.landmarks.shape[1] for m in fitted.pipeline_.members} == {60}


def test_a_file_gets_the_same_labels(clear, tmp_path):
    X = np.float32(clear[0])
    np.save(tmp_path / "rows.npy", X)
    expected, fitted = fast().fit(X), fast().fit(tmp_path / "rows.npy")
    assert not networks(fitted)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)


def test_the_report_says_why_there_is_no_network(clear, tmp_path):
    X = clear[0]
    write_report(fast().fit(X), X, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "none: near rows fall into clear clusters by themselves" in text
    assert "630 landmarks for each member" in text
    write_report(fast(n_members=2, epochs=1).fit(X), X, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "none: near rows" not in text


@pytest.mark.parametrize("n_distinct", [1, 2, 3, 5])
def test_few_distinct_rows_are_no_obstacle(n_distinct):
    spots = np.random.default_rng(0).standard_normal((n_distinct, 5))
    X = np.repeat(spots, 600 // n_distinct, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = fast().fit(X).labels_.reshape(n_distinct, -1)
    assert (labels == labels[:, :1]).all()
    assert len(np.unique(labels)) == min(n_distinct, 4)


def test_repeated_rows_stay_together(clear):
    X = np.repeat(clear[0][:100], 6, axis=0)
    labels = fast().fit(X).labels_.reshape(100, 6)
    assert (labels == labels[:, :1]).all()


def test_the_bar_never_goes_back(clear, noise, capfd):
    for X in (clear[0], noise):
        fast(verbose=1).fit(X)
        lines = [line for line in capfd.readouterr().err.splitlines() if "%" in line]
        shares = [int(line.split("%")[0].split()[-1]) for line in lines]
        assert shares == sorted(shares) and shares[-1] == 100
