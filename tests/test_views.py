"""Several matrices of the same rows: one fit, and answers with some of them missing."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec, View
from scedae._rows import JoinedRows, MemoryRows, ViewRows, join_views
from scedae._storage.archive import read_archive, write_archive
from scedae.baselines import AutoencoderKMeans, AutoencoderLSC
from scedae.exceptions import ModelFileError, ViewLeftOutWarning
from tests.helpers import QUICK


def blobs(seed=0, n=30):
    """Four clusters in two views of different units; each blurs two of them."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(4), n)
    first = np.eye(4)[classes] * [1, 1, 3, 3] + rng.normal(0, 0.4, (4 * n, 4))
    second = np.eye(4)[classes] * [3, 3, 1, 1] + rng.normal(0, 0.4, (4 * n, 4))
    turned = np.linalg.qr(rng.normal(size=(5, 5)))[0][:4]
    return first @ turned, 100 * second, classes


# One graph, so that nothing is judged.
SMALL = {"n_members": 1, "n_row_members": 1, "n_landmarks": 60, "n_neighbors": 3}


def model(**more):
    return SCEDAE(4, **{**QUICK, **SMALL, "random_state": 0, **more})


@pytest.fixture(scope="module")
def fitted():
    A, B, classes = blobs()
    return model().fit({"a": A, "b": B}), A, B, classes


def test_two_views_see_more_than_each_alone(fitted):
    both, A, B, classes = fitted
    together = adjusted_rand_score(classes, both.labels_)
    alone = [adjusted_rand_score(classes, model().fit_predict(X)) for X in (A, B)]
    assert together > max(*alone, 0.9)


def test_a_view_of_noise_is_left_out(tmp_path):
    rng = np.random.default_rng(1)
    classes = np.repeat(np.arange(4), 30)
    A = 3 * np.eye(4)[classes] + rng.normal(0, 0.4, (120, 4))
    noise = rng.uniform(size=(120, 3))
    with pytest.warns(ViewLeftOutWarning, match="view 'noise' was left out"):
        found = model(n_landmarks=30).fit({"a": A, "noise": noise})
    assert adjusted_rand_score(classes, found.labels_) > 0.95
    assert [view.left_out for view in found.views_.values()] == [False, True]
    heard = {report.spec.view for report in found.members_ if report.took_part}
    assert heard == {"a"}
    np.testing.assert_array_equal(found.predict([A, noise]), found.labels_)
    np.testing.assert_array_equal(found.predict([A, None]), found.labels_)
    with pytest.raises(ValueError, match="all views are missing that the answer"):
        found.predict([None, noise])
    found.save(tmp_path / "m")
    loaded = SCEDAE.load(tmp_path / "m")
    assert loaded.views_["noise"].left_out
    np.testing.assert_array_equal(loaded.predict([A, noise]), found.labels_)


def test_members_that_are_listed_keep_their_view():
    rng = np.random.default_rng(1)
    classes = np.repeat(np.arange(4), 30)
    A = 3 * np.eye(4)[classes] + rng.normal(0, 0.4, (120, 4))
    members = [MemberSpec((), 0, 30, view=name) for name in ("a", "noise")]
    kept = SCEDAE(4, ensemble=members, n_neighbors=3, random_state=0)
    kept.fit({"a": A, "noise": rng.uniform(size=(120, 3))})
    assert not any(view.left_out for view in kept.views_.values())


def test_the_training_rows_get_what_the_fit_gave_them(fitted):
    both, A, B, _ = fitted
    for X in ({"a": A, "b": B}, {"b": B, "a": A}, [A, B], (A, B)):
        labels, confidence = both.predict_with_confidence(X)
        np.testing.assert_array_equal(labels, both.labels_)
        np.testing.assert_array_equal(confidence, both.confidence_)
        np.testing.assert_array_equal(both.transform(X), both.embedding_)
        np.testing.assert_array_equal(both.predict_proba(X), both.probabilities_)
    assert both.score([A, B]) == both.score({"a": A, "b": B})


def test_a_list_is_a_dict_without_names(fitted):
    both, A, B, _ = fitted
    listed = model().fit([A, B])
    assert list(listed.views_) == ["view1", "view2"]
    assert listed.n_features_in_ == 9
    assert adjusted_rand_score(both.labels_, listed.labels_) == 1


@pytest.mark.parametrize("missing", ["a", "b"])
def test_with_a_view_missing_the_others_answer(fitted, missing):
    both, A, B, classes = fitted
    views = {"a": A, "b": B}
    alone = {name: X for name, X in views.items() if name != missing}
    listed = [None if name == missing else X for name, X in views.items()]
    labels, confidence = both.predict_with_confidence(alone)
    np.testing.assert_array_equal(labels, both.predict(listed))
    assert adjusted_rand_score(classes, labels) > 0.6
    np.testing.assert_array_equal(both.predict_proba(alone).argmax(1), labels)
    assert confidence.min() >= 0
    assert confidence.max() <= 1


def test_a_missing_view_is_heard_by_no_member(fitted):
    both, _, B, _ = fitted
    half = both.pipeline_.of_views(["b"])
    assert {member.spec.view for member in half.members} == {"b"}
    n_landmarks = sum(len(member.landmarks) for member in half.members)
    assert len(half.basis.vectors) == n_landmarks
    rows = half.scaler(torch.from_numpy(B))
    np.testing.assert_array_equal(
        both.transform({"b": B}), half.coordinates(rows).numpy()
    )


def test_what_each_view_gives_is_told(fitted):
    both, _, _, _ = fitted
    a, b = both.views_.values()
    assert (a.name, a.n_features_in, a.trained) == ("a", 5, True)
    # As many see both, side by side.
    assert a.n_members == b.n_members == len(both.members_) / 3
    own = [report.spec.view == "a" for report in both.members_]
    assert a.agreement == pytest.approx(both.member_agreement_[own].mean())


def test_each_view_has_its_own_scale(fitted):
    """A factor on one view changes nothing: it is scaled by what it is alone."""
    both, A, B, _ = fitted
    larger = model().fit({"a": A, "b": B * 2**10})
    np.testing.assert_array_equal(larger.labels_, both.labels_)
    np.testing.assert_allclose(larger.embedding_, both.embedding_, atol=1e-5)


def test_encodings_made_elsewhere_are_not_trained_on(fitted):
    _, A, B, classes = fitted
    joined = model().fit({"a": A, "b": View(B, train=False)})
    layers = {name: set() for name in (None, *joined.views_)}
    for report in joined.members_:
        layers[report.spec.view].add(report.spec.hidden_layers)
    assert layers["b"] == layers[None] == {()}
    assert layers["a"] != {()}
    counts = [view.n_members for view in joined.views_.values()]
    assert counts == [len(joined.members_) // 3] * 2  # the same weight
    assert adjusted_rand_score(classes, joined.labels_) > 0.9
    np.testing.assert_array_equal(joined.predict({"a": A, "b": B}), joined.labels_)


def test_members_may_name_their_view(fitted):
    _, A, B, _ = fitted
    members = [
        MemberSpec((8,), 5, 40, view="a"),
        MemberSpec((), 0, 40),
    ]
    listed = SCEDAE(4, ensemble=members, random_state=0).fit({"a": A, "b": B})
    seen = [(r.spec.view, r.spec.hidden_layers) for r in listed.members_]
    assert seen == [("a", (8,)), (None, ())]  # the second sees both
    np.testing.assert_array_equal(listed.predict([A, B]), listed.labels_)
    assert len(listed.predict({"a": A})) == len(A)
    with pytest.raises(ValueError, match="no member sees 'b' alone"):
        listed.predict({"b": B})


def test_one_matrix_stays_one_matrix():
    A, B, _ = blobs()
    landmarks = LandmarkSpectralClustering(4, random_state=0)
    assert hasattr(landmarks.fit([A, B]), "views_")
    labels = landmarks.fit(A).labels_
    assert not hasattr(landmarks, "views_")
    for same in (A.tolist(), sp.dok_matrix(A)):  # the latter is a dict
        np.testing.assert_array_equal(landmarks.fit_predict(same), labels)
    assert not hasattr(landmarks, "views_")


def test_landmarks_alone_take_views_as_well(fitted):
    _, A, B, classes = fitted
    found = LandmarkSpectralClustering(4, scale="auto", random_state=0).fit([A, B])
    assert adjusted_rand_score(classes, found.labels_) > 0.9
    np.testing.assert_array_equal(found.predict([A, B]), found.labels_)


@pytest.mark.parametrize("estimator", [AutoencoderKMeans, AutoencoderLSC])
def test_baselines_say_that_they_take_one_matrix(estimator):
    A, B, _ = blobs()
    with pytest.raises(TypeError, match=r"one matrix.*use SCEDAE"):
        estimator(4).fit([A, B])


FITS = {
    "an empty list": (lambda A, B: [], "empty list"),
    "an empty dict": (lambda A, B: {}, "empty dict"),
    "rows missing": (lambda A, B: [A, B[:-1]], "'view1' 120, 'view2' 119"),
    "None": (lambda A, B: [A, None], "'view2' is None"),
    "a number for a name": (lambda A, B: {1: A}, "name 1 of a view must be a text"),
    "a column": (lambda A, B: {"a": A, "b": B[:, 0]}, "view 'b'.*2D"),
    "not a number": (lambda A, B: [A, B * np.nan], "view 'view2'.*NaN.*row 0"),
    "text": (lambda A, B: [A, pd.DataFrame({"x": ["u"] * 120})], "view2.*x"),
}


@pytest.mark.parametrize("case", FITS)
def test_views_that_cannot_be_fitted(case):
    make, message = FITS[case]
    A, B, _ = blobs()
    with pytest.raises(ValueError, match=message):
        model().fit(make(A, B))


PREDICTIONS = {
    "one matrix": (lambda A, B: A, "fitted on the views 'a', 'b'"),
    "unknown": (lambda A, B: {"a": A, "c": B}, "no view 'c'.*'a', 'b'"),
    "too few": (lambda A, B: [A], "list of 1 views.*pass None"),
    "all missing": (lambda A, B: [None, None], "all views are missing"),
    "none at all": (lambda A, B: {}, "all views are missing"),
    "other columns": (lambda A, B: [A[:, 1:], B], "view 'a'.*4 features.*5"),
    "other lengths": (lambda A, B: [A[:5], B[:6]], "'a' 5, 'b' 6"),
}


@pytest.mark.parametrize("case", PREDICTIONS)
def test_views_that_cannot_be_predicted(case, fitted):
    make, message = PREDICTIONS[case]
    both, A, B, _ = fitted
    for verb in (both.predict, both.transform, both.score):
        with pytest.raises(ValueError, match=message):
            verb(make(A, B))


def test_views_for_a_model_of_one_matrix():
    A, B, _ = blobs()
    with pytest.raises(ValueError, match="fitted on one matrix"):
        model().fit(A).predict([A, B])


def test_members_of_views_that_are_not_there():
    A, B, _ = blobs()
    member = MemberSpec((), 0, 20, view="c")
    with pytest.raises(ValueError, match="view 'c', but the views are 'view1'"):
        SCEDAE(4, ensemble=[member]).fit([A, B])
    with pytest.raises(ValueError, match="view 'c', but X is one matrix"):
        SCEDAE(4, ensemble=[member]).fit(A)
    with pytest.raises(ValueError, match="no member of ensemble is for the view 'b'"):
        SCEDAE(4, ensemble=[member]).fit({"c": A, "b": B})
    network = MemberSpec((8,), 5, 20)
    with pytest.raises(ValueError, match="'a' is not to be trained"):
        SCEDAE(4, ensemble=[network]).fit({"a": View(A, train=False), "b": B})
    with pytest.raises(ValueError, match="view=1 must be the name"):
        MemberSpec((), 0, 20, view=1)
    with pytest.raises(ValueError, match="train='no' must be"):
        View(A, train="no")


def test_saved_and_loaded(fitted, tmp_path):
    both, A, B, _ = fitted
    both.save(tmp_path / "m")
    loaded = SCEDAE.load(tmp_path / "m")
    assert loaded.views_ == both.views_
    np.testing.assert_array_equal(loaded.predict([A, B]), both.labels_)
    np.testing.assert_array_equal(loaded.predict([A, None]), both.predict([A, None]))
    loaded.save(tmp_path / "again")
    infos = [read_archive(tmp_path / name).info for name in ("m", "again")]
    assert infos[0] == infos[1]


def change(info, key, value):
    *path, last = key
    for step in path:
        info = info[step]
    info[last] = value


LIES = {
    "another name": (("views", 0, "name"), "c"),
    "a name twice": (("views", 1, "name"), "a"),
    "other columns": (("views", 0, "n_features_in"), 4),
    "no views": (("views",), []),
    "names of columns": (("views", 0, "feature_names_in"), ["x"]),
    "a member elsewhere": (("model", "pipeline", "members", 0, "spec", "view"), "c"),
    "scaler": (("model", "pipeline", "scaler", "views", 0, "n_columns"), 3),
    "scaler twice": (("model", "pipeline", "scaler", "views", 0, "name"), "b"),
}


@pytest.mark.parametrize("lie", LIES)
def test_files_that_lie_about_views(lie, fitted, tmp_path):
    fitted[0].save(tmp_path / "m")
    archive = read_archive(tmp_path / "m")
    info = json.loads(json.dumps(archive.info))
    change(info, *LIES[lie])
    write_archive(tmp_path / "lie", info, archive.tensors)
    with pytest.raises(ModelFileError):
        SCEDAE.load(tmp_path / "lie")


def test_frames_keep_the_names_of_their_columns(fitted, tmp_path):
    _, A, B, _ = fitted
    frame = pd.DataFrame(A, columns=[*"vwxyz"])
    named = model().fit({"a": frame, "b": B})
    assert named.views_["a"].feature_names_in == (*"vwxyz",)
    assert list(named.feature_names_in_[[0, -1]]) == ["a.v", "b.3"]
    with pytest.raises(ValueError, match=r"view 'a'.*feature names"):
        named.predict({"a": frame[[*"zyxwv"]], "b": B})
    named.save(tmp_path / "m")
    loaded = SCEDAE.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict({"a": frame, "b": B}), named.labels_)


def test_sparse_beside_dense_and_short_beside_long_numbers(fitted):
    both, A, B, _ = fitted
    mixed = model().fit({"a": sp.csr_matrix(A), "b": torch.from_numpy(B)})
    np.testing.assert_array_equal(mixed.labels_, both.labels_)
    short = model().fit({"a": A.astype(np.float32), "b": B})
    np.testing.assert_array_equal(
        short.predict([A.astype(np.float32), B]), short.labels_
    )


def test_joined_rows_are_the_views_side_by_side():
    A, B, _ = blobs()
    parts = [MemoryRows(A.astype(np.float32)), MemoryRows(sp.csr_matrix(B))]
    rows = join_views([ViewRows(n, p) for n, p in zip("ab", parts, strict=True)])
    assert isinstance(rows, JoinedRows)
    wide = np.hstack([A.astype(np.float32), B])
    np.testing.assert_array_equal(rows.block(3, 9).numpy(), wide[3:9])
    index = torch.tensor([7, 2])
    np.testing.assert_array_equal(rows.take(index).numpy(), wide[[7, 2]])
    assert {part.dtype for part in (rows, *parts)} == {torch.float64}


def test_a_student_is_silent_where_a_view_is_missing(fitted):
    """It has learnt from all views side by side."""
    both, _, _, _ = fitted
    encoder = next(m.encoder for m in both.pipeline_.members if m.encoder is not None)
    taught = replace(both.pipeline_, student=encoder)
    assert taught.of_views(["a"]).student is None


def test_a_fit_that_goes_on_has_the_trainings_of_each_view(fitted, tmp_path):
    both, A, B, _ = fitted
    for _ in range(2):
        kept = model(checkpoint_dir=tmp_path).fit({"a": A, "b": B})
        np.testing.assert_array_equal(kept.embedding_, both.embedding_)
        assert len(list(tmp_path.glob("trained-*"))) == 3  # one a view, and one on both


def test_the_report_tells_of_views(fitted):
    from scedae.report.method import facts
    from scedae.report.run import read_run
    from scedae.report.write import render_report

    both, A, B, _ = fitted
    told = dict(facts(both, read_run({})))
    assert "a: 5 columns; its members agree to the clusters by" in told["Views"]
    assert told["Scaling"].startswith("a: ")
    page = render_report(both, np.hstack([A, B]))
    assert "<small>on a</small>" in page


def test_files_and_arrays_of_many_rows(fitted, tmp_path, monkeypatch):
    """Views that do not lie in memory draw the same rows, each by itself."""
    both, A, B, _ = fitted
    monkeypatch.setattr("scedae._rows.stream.DRAWN_ROWS", 100)
    np.save(tmp_path / "a.npy", A)
    streamed = model().fit({"a": tmp_path / "a.npy", "b": B})
    assert not hasattr(streamed, "embedding_")
    assert adjusted_rand_score(both.labels_, streamed.labels_) > 0.8
    again = streamed.predict({"a": tmp_path / "a.npy", "b": B})
    np.testing.assert_array_equal(again, streamed.labels_)
    np.testing.assert_array_equal(streamed.predict([A, B]), streamed.labels_)
    alone = streamed.predict([tmp_path / "a.npy", None])
    np.testing.assert_array_equal(alone, streamed.predict([A, None]))


def test_dask_collections(fitted, monkeypatch):
    da = pytest.importorskip("dask.array")
    both, A, B, _ = fitted
    views = {"a": da.from_array(A, chunks=(50, 5)), "b": da.from_array(B, chunks=70)}
    spread = LandmarkSpectralClustering(4, scale="auto", random_state=0).fit(views)
    labels = spread.labels_.compute()
    assert adjusted_rand_score(both.labels_, labels) > 0.8
    np.testing.assert_array_equal(spread.predict(views).compute(), labels)
    np.testing.assert_array_equal(spread.predict([A, B]), labels)
    with pytest.raises(TypeError, match="some views are Dask collections"):
        spread.predict({"a": views["a"], "b": B})
