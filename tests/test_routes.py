"""One kernel a verb: rows in memory, in files and in Dask collections agree."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE, LandmarkSpectralClustering, _defaults
from scedae import _spectral as spectral
from scedae._fusion import LandmarkSums, landmark_sums
from scedae._rows import stream
from scedae.exceptions import BlockReadError
from tests.helpers import (
    ESTIMATORS,
    QUICK,
    SPECTRAL,
    dense_affinity,
    dense_fused,
    in_formats,
)

FORMATS = ("npy", "memmap", "zarr", "parquet", "dask")


@pytest.fixture
def X():
    """Four clouds that touch, sorted by cloud: a draw from one place would lie."""
    X, y = make_blobs(3000, 5, centers=4, cluster_std=1.2, random_state=3)
    return X[np.argsort(y, kind="stable")].astype(np.float32)


@pytest.fixture
def few_are_drawn(monkeypatch):
    """3,000 rows are many: epochs and samples draw 512, blocks have 400."""
    monkeypatch.setattr(stream, "DRAWN_ROWS", 512)
    monkeypatch.setattr(stream, "_BLOCK_ROWS", 400)


def model(kind, **settings):
    settings = {"n_landmarks": 40, "random_state": 0, **settings}
    if kind == "lsc":
        return LandmarkSpectralClustering(4, **settings)
    return SCEDAE(4, n_members=3, **{**QUICK, **settings})


def plain(labels):
    return np.asarray(labels)


@pytest.mark.parametrize("kind", ["scedae", "lsc"])
def test_a_fit_is_the_same_from_every_format(kind, X, tmp_path, few_are_drawn):
    """The same rows are drawn, so all is the same up to rounding of sums."""
    containers = in_formats(X, tmp_path)
    models = {name: model(kind).fit(where) for name, where in containers.items()}
    first = models["npy"]
    for name, fitted in models.items():
        score = adjusted_rand_score(plain(fitted.labels_), plain(first.labels_))
        assert score >= 0.999, name
        assert fitted.n_clusters_ == 4
        assert not hasattr(fitted, "embedding_")
        np.testing.assert_allclose(fitted.singular_values_, first.singular_values_)
        np.testing.assert_allclose(
            plain(fitted.confidence_), plain(first.confidence_), atol=1e-6
        )


def test_columns_that_differ_are_bent_alike_in_every_format(
    X, tmp_path, few_are_drawn, rng
):
    flags = rng.random((len(X), 2)) < [0.3, 0.5]
    flags[:, 1] ^= X[:, 0] > 0  # noise too, but not the same everywhere
    table = np.column_stack([np.exp(X / 4) * [1, 50, 3e3, 0.1, 7], flags])
    containers = in_formats(table.astype(np.float32), tmp_path)
    models = {name: model("scedae").fit(where) for name, where in containers.items()}
    first = models["npy"]
    found = first.pipeline_.scaler.marginals
    assert (found.power != 1).any()
    assert (found.weight < 1).any()
    for name, fitted in models.items():
        for mine, other in zip(
            vars(found).values(),
            vars(fitted.pipeline_.scaler.marginals).values(),
            strict=True,
        ):
            np.testing.assert_allclose(mine, other, atol=1e-6)
        score = adjusted_rand_score(plain(fitted.labels_), plain(first.labels_))
        assert score >= 0.99, name


@pytest.mark.parametrize("kind", ["scedae", "lsc"])
def test_memory_and_file_agree_for_the_same_landmarks_and_encoders(
    kind, X, tmp_path, few_are_drawn
):
    """What took passes over a file, computed at once, dense and by loops."""
    fitted = model(kind).fit(in_formats(X, tmp_path)["npy"])
    pipeline = fitted.pipeline_
    rows = pipeline.scaler(torch.from_numpy(X))
    dense = [
        dense_affinity(
            member.encode(rows).double().numpy(),
            member.landmarks.double().numpy(),
            pipeline.n_neighbors,
            member.bandwidth,
        )
        for member in pipeline.members
    ]
    fused = dense_fused(dense)  # (n, Σp)
    values = np.linalg.svd(fused, compute_uv=False)
    n_values = len(fitted.singular_values_)
    np.testing.assert_allclose(
        fitted.singular_values_, values[1 : n_values + 1], atol=1e-6
    )
    matrix = spectral.embedding_matrix(pipeline.basis, pipeline.time)
    points = fused @ matrix
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points = points @ pipeline.metric.numpy()
    np.testing.assert_allclose(fitted.transform(X), points, atol=1e-4)
    generator = torch.Generator().manual_seed(0)
    centers = spectral.kmeans(torch.from_numpy(points), 4, generator).centers
    labels = spectral.nearest(torch.from_numpy(points), centers)[:, 0]
    assert adjusted_rand_score(plain(fitted.labels_), labels) >= 0.999


def test_sums_over_some_rows_give_nearly_the_answer_of_all(
    X, tmp_path, few_are_drawn, monkeypatch
):
    """The same rows from files and clusters, and close to sums over all of them."""
    containers = in_formats(X, tmp_path)
    every = model("lsc").fit(containers["npy"])
    monkeypatch.setattr(stream, "SUMMED_ROWS", len(X) // 2)
    some = {name: model("lsc").fit(containers[name]) for name in ("npy", "dask")}
    first = some["npy"].singular_values_
    assert not np.allclose(first, every.singular_values_, atol=1e-9)
    np.testing.assert_allclose(first, every.singular_values_, atol=0.05)
    for name, fitted in some.items():
        np.testing.assert_allclose(fitted.singular_values_, first, err_msg=name)
        labels = plain(fitted.labels_)
        assert adjusted_rand_score(labels, plain(every.labels_)) >= 0.95, name


def test_landmark_sums_are_those_of_the_dense_affinity(X, few_are_drawn):
    pipeline = model("scedae").fit(X[::5]).pipeline_
    members = pipeline.members
    rows = pipeline.scaler(torch.from_numpy(X[1::5]))
    parts = [landmark_sums(members, 3, part) for part in rows.split(123)]
    sums = sum(parts[1:], start=parts[0])
    assert isinstance(sums, LandmarkSums)
    Z = np.hstack(
        [
            dense_affinity(m.encode(rows).numpy(), m.landmarks.numpy(), 3, m.bandwidth)
            for m in members
        ]
    )
    np.testing.assert_allclose(sums.columns, Z.sum(0), atol=1e-4)
    np.testing.assert_allclose(sums.gram.dense(), Z.T @ Z, atol=1e-4)


@pytest.mark.parametrize("name", FORMATS)
def test_predict_and_transform_give_what_fits_the_input(
    name, X, tmp_path, few_are_drawn
):
    import dask.array as da

    container = in_formats(X, tmp_path)[name]
    fitted = model("scedae").fit(container)
    whole = container
    kind = da.Array if name == "dask" else np.memmap
    for result, expected in (
        (fitted.labels_, fitted.labels_),
        (fitted.predict(whole), fitted.labels_),
        (fitted.predict_with_confidence(whole)[1], fitted.confidence_),
        (fitted.predict_confidence(whole), fitted.confidence_),
        (fitted.transform(whole), clone(fitted).fit_transform(container)),
    ):
        assert isinstance(result, kind)
        np.testing.assert_array_equal(plain(result), plain(expected))
    if name != "parquet":  # named columns may not come back without their names
        np.testing.assert_array_equal(fitted.predict(X), plain(fitted.labels_))
        assert fitted.score(container) == pytest.approx(fitted.score(X))


@pytest.mark.parametrize("name", SPECTRAL)
@pytest.mark.parametrize("form", ["npy", "zarr", "parquet", "memmap"])
def test_a_small_file_is_treated_like_an_array(name, form, blobs, tmp_path):
    X = blobs[0]
    fitted = ESTIMATORS[name]().fit(in_formats(X, tmp_path)[form])
    expected = ESTIMATORS[name]().fit(X)
    np.testing.assert_array_equal(fitted.embedding_, expected.embedding_)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    assert type(fitted.labels_) is np.ndarray


@pytest.mark.parametrize("kind", ["scedae", "lsc"])
def test_a_small_dask_array_is_learnt_from_whole(kind, X):
    """No more rows than a draw has: the same training, sums in another order."""
    import dask.array as da

    lazy = model(kind).fit(da.from_array(X, chunks=(700, -1)))
    eager = model(kind).fit(X)
    assert adjusted_rand_score(plain(lazy.labels_), eager.labels_) >= 0.999
    np.testing.assert_allclose(lazy.singular_values_, eager.singular_values_, rtol=1e-5)


def test_one_seed_repeats_a_streamed_fit(X, tmp_path, few_are_drawn):
    path = in_formats(X, tmp_path)["npy"]
    first, again, other = (model("scedae", random_state=s).fit(path) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(first.confidence_, again.confidence_)
    assert not np.array_equal(first.singular_values_, other.singular_values_)


def test_steps_do_not_grow_with_the_rows(X, tmp_path, few_are_drawn, monkeypatch):
    """An epoch of streamed rows is a draw, however many rows there are."""
    effort = replace(_defaults.EFFORTS["default"], small_steps=400, min_epochs=1)
    monkeypatch.setitem(_defaults.EFFORTS, "default", effort)
    np.save(tmp_path / "few.npy", X[:1000])
    np.save(tmp_path / "many.npy", X)
    few, many = (
        model("scedae", epochs="auto", hidden_layers=(12, 8, 10)).fit(tmp_path / name)
        for name in ("few.npy", "many.npy")
    )
    epochs = [len(m.members_[0].history) for m in (few, many)]
    assert epochs[0] == epochs[1] == 400 / (512 / 64)  # batches are an eighth


def test_a_streamed_model_is_saved_without_its_rows(X, tmp_path, few_are_drawn):
    path = in_formats(X, tmp_path)["zarr"]
    fitted = model("scedae").fit(path)
    fitted.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    np.testing.assert_array_equal(loaded.predict(path), fitted.labels_)
    np.testing.assert_array_equal(loaded.predict_confidence(path), fitted.confidence_)
    assert loaded.n_clusters_ == fitted.n_clusters_
    assert not hasattr(loaded, "labels_")
    loaded.save(tmp_path / "again.scedae")
    again = SCEDAE.load(tmp_path / "again.scedae")
    np.testing.assert_array_equal(again.predict(X), fitted.labels_)


def test_a_fit_in_memory_follows_a_streamed_one_and_the_reverse(
    X, tmp_path, few_are_drawn
):
    path = in_formats(X, tmp_path)["npy"]
    estimator = model("lsc").fit(X)
    assert estimator.fit(path).labels_ is not None
    assert not hasattr(estimator, "embedding_")
    assert estimator.fit(X).embedding_.shape == (3000, 4)


def test_results_are_written_where_asked(X, tmp_path, few_are_drawn):
    containers = in_formats(X, tmp_path)
    fitted = model("lsc").fit(X)
    for name in ("npy", "zarr"):
        labels = fitted.predict(containers[name], out=tmp_path / "labels.npy")
        assert isinstance(labels, np.memmap)
        np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), fitted.labels_)
    fitted.transform(X, out=tmp_path / "places.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "places.npy"), fitted.embedding_)
    with pytest.raises(ValueError, match="store the result with"):
        fitted.predict(containers["dask"], out=tmp_path / "labels.npy")


def test_columns_are_compared(X, tmp_path, few_are_drawn):
    containers = in_formats(X, tmp_path)
    named = model("lsc").fit(containers["parquet"])
    assert list(named.feature_names_in_) == [f"c{i}" for i in range(5)]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(containers["npy"])
    narrow = in_formats(X[:, :4], tmp_path)
    plain_model = model("lsc").fit(X)
    for name, container in narrow.items():
        estimator = named if name == "parquet" else plain_model
        with pytest.raises(ValueError, match=r"4 features|seen at fit time, yet now"):
            estimator.predict(container)


def test_empty_partitions_hold_no_rows(X, few_are_drawn):
    """What a filter leaves: at the start, between and at the end."""
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcde"))
    parts = [frame[:0], frame[:700], frame[:0], frame[700:], frame[:0]]
    gaps = dd.from_map(lambda i: parts[i], range(5), meta=frame[:0])
    whole = dd.from_map(lambda i: parts[i], [1, 3], meta=frame[:0])
    fitted, expected = model("lsc").fit(gaps), model("lsc").fit(whole)
    np.testing.assert_array_equal(fitted.labels_.compute(), plain(expected.labels_))
    again = fitted.predict(gaps).compute()
    np.testing.assert_array_equal(again, expected.predict(frame))


def test_dask_frames(X, few_are_drawn):
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcde"))
    lazy = dd.from_pandas(frame, npartitions=4)
    fitted = model("lsc").fit(lazy)
    assert list(fitted.feature_names_in_) == list("abcde")
    labels = fitted.predict(lazy)
    np.testing.assert_array_equal(labels.compute(), plain(fitted.labels_))
    np.testing.assert_array_equal(fitted.predict(frame), plain(fitted.labels_))
    with pytest.raises(ValueError, match="not numeric: name"):
        fitted.fit(lazy.assign(name="text"))


@pytest.mark.parametrize("name", ["AutoencoderKMeans", "DCN"])
def test_estimators_that_need_rows_in_memory_say_so(name, X, tmp_path, few_are_drawn):
    containers = in_formats(X, tmp_path)
    estimator = ESTIMATORS[name]()
    for form in ("npy", "zarr", "dask"):
        with pytest.raises(TypeError, match="is fitted on rows in memory"):
            estimator.fit(containers[form])
    estimator.fit(X)
    labels = estimator.predict(containers["zarr"])
    np.testing.assert_array_equal(labels, estimator.labels_)


def test_a_failed_fit_leaves_the_model_as_it_was(X, tmp_path, few_are_drawn):
    fitted = model("lsc").fit(X)
    before = fitted.labels_
    X = X.copy()
    X[2345, 2] = np.inf
    for container in in_formats(X, tmp_path).values():
        with pytest.raises(ValueError, match=r"infinity .* row 2345"):
            fitted.fit(container)
        assert fitted.labels_ is before


def test_a_block_of_a_dask_array_that_cannot_be_read_is_named(X):
    import dask.array as da

    def read(block, block_info):
        if block_info[0]["chunk-location"][0] == 2:
            raise OSError("the disk is away")
        return block

    lazy = da.from_array(X, chunks=(700, -1)).map_blocks(read, dtype=X.dtype)
    message = r"rows 1400 to 2099 of X \(block 2 .*the disk is away"
    with pytest.raises(BlockReadError, match=message):
        model("lsc").fit(lazy)


def test_a_report_and_pictures_say_what_they_need(X, tmp_path, few_are_drawn):
    from scedae import plot
    from scedae.report import write_report

    fitted = model("lsc").fit(in_formats(X, tmp_path)["npy"])
    with pytest.raises(ValueError, match="do not lie in memory"):
        write_report(fitted, X, tmp_path / "report.html")
    with pytest.raises(ValueError, match="no embedding_ to draw"):
        plot.embedding(fitted)


def test_progress_of_passes_is_shown(X, tmp_path, few_are_drawn, capfd):
    model("scedae", verbose=1).fit(in_formats(X, tmp_path)["npy"])
    lines = capfd.readouterr().err
    assert "of the rows" in lines
    assert "100%" in lines
