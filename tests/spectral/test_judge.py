"""The judge: its graph against a naive one, and what it prefers."""

import numpy as np
import pytest
import torch

from scedae import SCEDAE
from scedae._spectral import Judge, NearRows, judge
from scedae.internal import CodeRows


def judge_of(*encodings, seed=0, **limits):
    rows = [CodeRows(torch.from_numpy(np.float32(each))) for each in encodings]
    return Judge(rows, torch.Generator().manual_seed(seed), **limits)


def naive_cut(encodings, labels):
    """Mean normalised cut by dense matrices and loops."""
    n = len(labels)
    total = np.zeros((n, n))
    for X in encodings:
        X = np.float32(X).astype(float)
        squared = ((X[:, None] - X[None]) ** 2).sum(2)
        order = np.argsort(squared, axis=1)
        scale = np.sqrt(np.sort(squared, axis=1)[:, min(7, n - 1)])
        own = np.zeros((n, n))
        for i in range(n):
            for j in order[i, :16]:
                own[i, j] = np.exp(-squared[i, j] / (scale[i] * scale[j]))
        np.fill_diagonal(own, 0)
        total += np.maximum(own, own.T)
    cuts = []
    for c in np.unique(labels):
        inside = labels == c
        cuts.append(1 - total[np.ix_(inside, inside)].sum() / total[inside].sum())
    return np.mean(cuts)


def test_the_cut_is_that_of_a_naive_graph(rng):
    first, second = rng.standard_normal((60, 3)), rng.standard_normal((60, 2))
    labels = rng.integers(0, 4, 60)
    found = judge_of(first, second).mean_cut(labels)
    assert found == pytest.approx(naive_cut([first, second], labels), abs=1e-9)


def test_few_rows_are_all_neighbours(rng):
    X, labels = rng.standard_normal((6, 2)), np.array([0, 0, 1, 1, 0, 1])
    found = judge_of(X).mean_cut(labels)
    assert found == pytest.approx(naive_cut([X], labels), abs=1e-9)


def test_equal_rows_count_once(rng):
    """They would be each other's nearest, and every cut between spots would be free."""
    X = rng.standard_normal((40, 3))
    repeated = np.repeat(X, 20, axis=0)
    found = judge_of(repeated, repeated[:, :2])
    np.testing.assert_array_equal(found.rows, np.arange(40) * 20)
    labels = rng.integers(0, 3, 40)
    expected = naive_cut([X, X[:, :2]], labels)
    assert found.mean_cut(labels) == pytest.approx(expected, abs=1e-9)


def test_a_rare_cluster_beats_a_cut_through_a_large_one(rng):
    X = rng.standard_normal((320, 5))
    X[300:] += 20
    rare = np.repeat([0, 1], [300, 20])
    halves = (X[:, 0] > np.median(X[:, 0])).astype(int)
    assert judge_of(X).mean_cut(rare) < 0.01
    assert judge_of(X).mean_cut(halves) > 0.05
    found = judge_of(X)
    assert found.weigh(rare, 2).score < found.weigh(halves, 2).score


def test_a_far_row_alone_is_no_cluster(rng):
    """Its ties have vanished, which is not to be cut off well."""
    X = rng.standard_normal((101, 3))
    X[100] = 1e4
    alone = np.repeat([0, 1], [100, 1])
    assert judge_of(X).mean_cut(alone) == pytest.approx(0.5, abs=1e-6)


def test_names_of_clusters_do_not_count(rng):
    X, labels = rng.standard_normal((80, 3)), rng.integers(0, 3, 80)
    found = judge_of(X)
    assert found.mean_cut(labels) == pytest.approx(found.mean_cut(labels * 5 + 1))


def test_of_many_rows_a_sample_is_judged(rng):
    X = rng.standard_normal((400, 3))
    found, other = (judge_of(X, seed=seed, most_rows=50) for seed in (0, 1))
    assert len(found.rows) == 50
    assert not torch.equal(found.rows, other.rows)
    labels = rng.integers(0, 3, 400)[found.rows.numpy()]
    expected = naive_cut([X[found.rows.numpy()]], labels)
    assert found.mean_cut(labels) == pytest.approx(expected, abs=1e-9)


def test_one_cluster_of_everything_counts_against_a_partition(rng):
    X = rng.standard_normal((200, 3))
    found = judge_of(X)
    even, odd = np.repeat([0, 1], 100), np.repeat([0, 1], [190, 10])
    fair, crumb = found.weigh(even, 2), found.weigh(odd, 2)
    assert (fair.largest, crumb.largest) == (0.5, 0.95)
    assert fair.cut == found.mean_cut(even)
    assert fair.score == pytest.approx(fair.cut + 0.002)
    # 19 times the other, where twice would hardly count; but not without limit.
    assert crumb.score == pytest.approx((crumb.cut + 0.002) * 6)


def test_unequal_sizes_hardly_count(rng):
    X = rng.standard_normal((210, 3))
    found = judge_of(X)
    unequal = found.weigh(np.repeat([0, 1, 2], [130, 50, 30]), 3)
    expected = (unequal.cut + 0.002) * (1 + 0.025 * (130 / 40 - 1) ** 2)
    assert unequal.score == pytest.approx(expected)


def blobs(rng, sizes=(300, 40, 20)):
    centers = 12 * np.eye(5)[: len(sizes)]
    y = np.repeat(np.arange(len(sizes)), sizes)
    return centers[y] + rng.standard_normal((len(y), 5)), y


def test_an_odd_row_keeps_no_graph_away(rng):
    X, _ = blobs(rng, sizes=(301, 40, 20))  # half of them are 180 landmarks
    fitted = SCEDAE(3, effort="fast", epochs=1, random_state=0).fit(X)
    assert 361 in {each.n_landmarks for each in fitted.candidates_}


def test_a_fit_tells_which_graphs_it_tried(rng):
    X, _ = blobs(rng)
    fitted = SCEDAE(3, effort="fast", random_state=0).fit(X)
    tried = [(each.n_landmarks, each.n_neighbors) for each in fitted.candidates_]
    assert tried == [(180, 3), (180, 5), (45, 5), (16, 5), (360, 5), (360, 3)]
    (chosen,) = (each for each in fitted.candidates_ if each.chosen)
    assert chosen.n_landmarks == len(fitted.pipeline_.members[0].landmarks)
    assert chosen.n_neighbors == fitted.pipeline_.n_neighbors
    assert chosen.score <= min(each.score for each in fitted.candidates_) / 0.97
    assert sorted(np.bincount(fitted.labels_)) == [20, 40, 300]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, 0.098, 0.098, 0.098, 0.098, 0.098], 0),  # no clear difference: the first
        ([0.1, 0.096, 0.094, 0.1, 0.1, 0.1], 1),
        ([0.1, 0.2, 0.05, 0.1, 0.1, 0.1], 2),
        ([0.1, 0.05, 0.0495, 0.049, 0.049, 0.04], 5),
    ],
)
def test_a_later_graph_must_be_clearly_better(rng, monkeypatch, scores, expected):
    left = iter(scores)  # after the usual time: with such a cut nobody looks again
    monkeypatch.setattr(
        Judge, "weigh", lambda *_: judge.Verdict(cut=0.2, largest=0.5, score=next(left))
    )
    X, _ = blobs(rng)
    fitted = SCEDAE(3, effort="fast", epochs=1, random_state=0).fit(X)
    assert [each.chosen for each in fitted.candidates_].index(True) == expected


@pytest.mark.parametrize(
    ("later", "cut", "taken"),
    [(0.085, 0.02, False), (0.075, 0.02, True), (0.01, 0.04, False)],
)
def test_a_longer_time_must_be_far_better(rng, monkeypatch, later, cut, taken):
    left = iter([0.1, later] + 10 * [0.1])
    monkeypatch.setattr(
        Judge, "weigh", lambda *_: judge.Verdict(cut=cut, largest=0.5, score=next(left))
    )
    X = rng.standard_normal((300, 5))  # in one piece
    fitted = SCEDAE(3, effort="fast", epochs=1, random_state=0).fit(X)
    assert fitted.candidates_[0].chosen
    assert fitted.candidates_[0].longer == taken
    assert not any(each.longer for each in fitted.candidates_[1:])
    weight = fitted.singular_values_[1] ** (2 * fitted.pipeline_.time)
    assert weight == pytest.approx(0.25 if taken else 0.75)


@pytest.mark.parametrize(
    ("parameters", "tried"),
    [
        ({"n_landmarks": 150, "n_neighbors": 4}, [(150, 4)]),
        ({"n_landmarks": 150}, [(150, 3), (150, 5)]),
        ({"n_neighbors": 4}, [(180, 4), (45, 4), (16, 4), (360, 4)]),
    ],
)
def test_what_is_given_stays(rng, parameters, tried):
    X, _ = blobs(rng)
    fitted = SCEDAE(3, effort="fast", random_state=0, **parameters).fit(X)
    found = [(each.n_landmarks, each.n_neighbors) for each in fitted.candidates_]
    assert found == tried
    if len(tried) == 1:
        assert fitted.candidates_[0].cut is None


def crumbs(rng):
    """Pairs of rows far from all others: many more parts than clusters."""
    return np.repeat(
        50 * rng.standard_normal((650, 5)), 2, axis=0
    ) + rng.standard_normal((1300, 5))


@pytest.mark.parametrize("n_columns", [2, 5])
def test_every_row_is_a_landmark_only_where_that_can_be_of_use(rng, n_columns):
    in_a_plane = rng.standard_normal((1000, n_columns))  # 400 landmarks in a plane
    fitted = SCEDAE(3, effort="fast", epochs=1, random_state=0).fit(in_a_plane)
    tried = {each.n_landmarks for each in fitted.candidates_}
    assert (1000 in tried) == (n_columns > 2)
    fitted = SCEDAE(3, effort="fast", epochs=1, random_state=0).fit(crumbs(rng))
    assert 1300 not in {each.n_landmarks for each in fitted.candidates_}


@pytest.fixture
def nearest_rows(rng, monkeypatch):
    """A fit whose judge prefers the graph with every row a landmark, and its rows."""
    left = iter([0.1, 0.1, 0.1, 0.1, 0.05, 0.1])
    monkeypatch.setattr(
        Judge, "weigh", lambda *_: judge.Verdict(cut=0.2, largest=0.5, score=next(left))
    )
    X, y = blobs(rng)
    fitted = SCEDAE(3, effort="fast", random_state=0).fit(X)
    assert len(fitted.pipeline_.members[0].landmarks) == len(X)
    return fitted, X, y


def test_with_every_row_a_landmark_rows_are_tied_to_their_nearest_rows(nearest_rows):
    fitted, X, _ = nearest_rows
    assert sorted(np.bincount(fitted.labels_)) == [20, 40, 300]
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    affinity = fitted.pipeline_.members[-1].affinity  # of the rows themselves
    own = fitted.pipeline_.scaler(torch.from_numpy(X))
    nearest = affinity(own, 5).columns.numpy()
    np.testing.assert_array_equal(nearest[:, 0], np.arange(len(X)))
    squared = ((own[:, None] - own[None]) ** 2).sum(2).numpy()
    by_hand = np.argsort(squared, axis=1, kind="stable")[:, :5]
    assert (np.sort(nearest) == np.sort(by_hand)).all(1).mean() > 0.99


def test_with_every_row_a_landmark_equal_rows_are_one(rng):
    X = rng.standard_normal((60, 4)).repeat(9, axis=0)
    near, draws = NearRows(CodeRows(torch.from_numpy(X)), 4), torch.Generator()
    np.testing.assert_array_equal(near.some(1.0, 4, draws)[0], X[::9])
    some = near.some(0.8, 4, draws)[0].numpy()
    assert len(np.unique(some, axis=0)) == len(some) == 48


def test_with_every_row_a_landmark_new_rows_are_as_usual_as_others(nearest_rows, rng):
    fitted, X, _ = nearest_rows
    new, _ = blobs(rng)
    assert np.median(fitted.novelty_score(new)) == pytest.approx(1, abs=0.25)
    assert np.median(fitted.novelty_score(X + 100)) > 5


def test_the_verdict_is_saved(rng, tmp_path):
    X, _ = blobs(rng)
    fitted = SCEDAE(3, effort="fast", random_state=0).fit(X)
    fitted.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    assert loaded.candidates_ == fitted.candidates_
    assert loaded.pipeline_.time == fitted.pipeline_.time
    np.testing.assert_array_equal(loaded.predict(X), fitted.labels_)
