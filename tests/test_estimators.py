"""What users rely on: new rows, seeds, inputs, errors that help, odd data."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.exceptions import NotFittedError

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec
from scedae._autoencoder import is_collapsed
from scedae.exceptions import (
    CollapsedEnsembleError,
    CollapsedMemberWarning,
    DegenerateDataWarning,
    DeviceError,
)
from scedae.metrics import clustering_accuracy
from tests.helpers import ESTIMATORS

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


# --- new rows ---------------------------------------------------------------------


@every_estimator
def test_training_rows_get_their_labels_back_in_any_company(blobs, name):
    X, _ = blobs
    model = ESTIMATORS[name]().fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert (model.transform(X) == model.embedding_).all()
    order = np.random.default_rng(1).permutation(len(X))
    assert (model.predict(X[order]) == model.labels_[order]).all()
    for rows in (slice(0, 1), slice(5, 50), slice(None, None, 7)):
        assert (model.transform(X[rows]) == model.embedding_[rows]).all()


@every_estimator
@pytest.mark.parametrize("shape", [(61, 6), (611, 17)])
def test_equal_rows_have_equal_results_wherever_they_stand(rng, name, shape):
    """In a fit and in predict, in blocks that are full and in the last one."""
    X = rng.standard_normal(shape)
    where = np.sort(rng.choice(len(X), 20, replace=False))
    X[where] = X[where[0]]
    model = ESTIMATORS[name]().fit(X)
    assert len(np.unique(model.embedding_[where], axis=0)) == 1
    assert len(np.unique(model.labels_[where])) == 1
    assert (model.transform(X[where]) == model.embedding_[where]).all()
    if hasattr(model, "confidence_"):
        assert len(np.unique(model.confidence_[where])) == 1
        confidence = model.predict_confidence(X[where])
        assert (confidence == model.confidence_[where]).all()


@every_estimator
def test_rows_never_seen_join_their_cluster(blobs, name):
    X, y = blobs
    model = ESTIMATORS[name]().fit(X[:160])
    assert clustering_accuracy(y[160:], model.predict(X[160:])) > 0.95


@every_estimator
def test_an_order_of_rows_is_no_information(blobs, name):
    X, y = blobs
    order = np.random.default_rng(1).permutation(len(X))
    labels = ESTIMATORS[name]().fit_predict(X[order])
    assert clustering_accuracy(y[order], labels) > 0.95


def test_predicting_many_rows_needs_the_memory_of_one_block(blobs):
    """A million rows as a broadcast view: copied whole, they would fill 48 MB."""
    import tracemalloc

    X, _ = blobs
    model = ESTIMATORS["LandmarkSpectralClustering"](n_landmarks=20).fit(X)
    many = np.broadcast_to(X[0], (1_000_000, X.shape[1]))
    tracemalloc.start()
    labels = model.predict(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (labels == model.labels_[0]).all()
    assert peak < 3 * labels.nbytes + 8e6 < many.nbytes


# --- seeds ------------------------------------------------------------------------


@every_estimator
def test_one_seed_fixes_everything(blobs, name):
    X, _ = blobs
    first, second = ESTIMATORS[name]().fit(X), ESTIMATORS[name]().fit(X)
    assert (first.labels_ == second.labels_).all()
    assert (first.embedding_ == second.embedding_).all()


# Whatever the seed makes of so small a network.
@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@every_estimator
def test_the_seed_of_a_free_fit_repeats_it(blobs, name):
    X, _ = blobs
    free = ESTIMATORS[name](random_state=None).fit(X)
    again = ESTIMATORS[name](random_state=free.seed_).fit(X)
    assert (free.embedding_ == again.embedding_).all()


@pytest.mark.parametrize(
    "make", [np.random.RandomState, np.random.default_rng], ids=["legacy", "generator"]
)
def test_generators_are_accepted(blobs, make):
    X, _ = blobs
    first = ESTIMATORS["SCEDAE"](random_state=make(3)).fit(X)
    second = ESTIMATORS["SCEDAE"](random_state=make(3)).fit(X)
    assert first.seed_ == second.seed_
    assert (first.embedding_ == second.embedding_).all()


def test_the_number_of_threads_changes_nothing(blobs):
    X, _ = blobs
    before = torch.get_num_threads()
    embeddings = []
    try:
        for n_threads in (1, 2):
            torch.set_num_threads(n_threads)
            embeddings.append(ESTIMATORS["SCEDAE"]().fit(X).embedding_)
    finally:
        torch.set_num_threads(before)
    assert (embeddings[0] == embeddings[1]).all()


def test_another_process_gives_the_same(blobs):
    code = (
        "import numpy as np; from sklearn.datasets import make_blobs;"
        "from tests.helpers import ESTIMATORS; import hashlib;"
        "X, _ = make_blobs(240, 6, centers=3, cluster_std=0.6, random_state=0);"
        "m = ESTIMATORS['SCEDAE']().fit(X);"
        "print(hashlib.sha256(m.embedding_.tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"OMP_NUM_THREADS": n_threads, "PYTHONPATH": "."},
        ).stdout
        for n_threads in ("1", "2")
    }
    assert len(found) == 1


def test_a_member_is_the_same_in_any_ensemble(blobs):
    X, _ = blobs
    two = ESTIMATORS["SCEDAE"](n_members=2).fit(X).pipeline_.members
    six = ESTIMATORS["SCEDAE"](n_members=6).fit(X).pipeline_.members
    for one, other in zip(two[:2], six, strict=False):
        assert one.spec == other.spec
        assert torch.equal(one.landmarks, other.landmarks)
        for (w1, b1), (w2, b2) in zip(
            one.encoder.layers, other.encoder.layers, strict=True
        ):
            assert torch.equal(w1, w2)
            assert torch.equal(b1, b2)


# --- inputs -----------------------------------------------------------------------


def as_memory_map(X):
    path = Path(tempfile.mkdtemp()) / "X.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def containers(X):
    read_only = X.copy()
    read_only.flags.writeable = False
    return {
        "float32": X.astype(np.float32),
        "frame": pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
        "tensor": torch.tensor(X),
        "tensor with gradient": torch.tensor(X, requires_grad=True),
        "csr": sp.csr_matrix(X),
        "csc": sp.csc_matrix(X),
        "sparse array": sp.csr_array(X),
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "reversed twice": X[::-1].copy()[::-1],
        "columns reversed twice": X[:, ::-1].copy()[:, ::-1],
        "other byte order": X.astype(">f8"),
        "frame of objects": pd.DataFrame(X.astype(object)),
        "sparse tensor": torch.tensor(X).to_sparse(),
        "memory map": as_memory_map(X),
        "read-only": read_only,
        "list": X.tolist(),
    }


@every_estimator
@pytest.mark.parametrize("container", containers(np.zeros((2, 2))))
def test_containers_give_one_answer(blobs, name, container):
    X, _ = blobs
    X = X.round(2)
    expected = ESTIMATORS[name]().fit_predict(X)
    model = ESTIMATORS[name]().fit(containers(X)[container])
    assert clustering_accuracy(expected, model.labels_) > 0.99
    assert (model.predict(containers(X)[container]) == model.labels_).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint16, bool, "f2"])
def test_number_types(blobs, dtype):
    X = (10 * (blobs[0] - blobs[0].min())).astype(dtype)
    X[:120, :3] = 0
    labels = ESTIMATORS["LandmarkSpectralClustering"](2).fit_predict(X)
    assert labels.shape == (240,)


def test_sparse_rows_are_never_densified_whole(blobs):
    X = sp.random(6000, 3000, 0.001, format="csr", random_state=0)
    import tracemalloc

    tracemalloc.start()
    model = SCEDAE(2, hidden_layers=(8, 6), n_members=1, epochs=1, n_landmarks=10)
    model.fit(X).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 3000 * 8 * 0.9  # one block of 4,096 rows, not 6,000


def test_column_names_are_kept_and_compared(blobs):
    frame = pd.DataFrame(blobs[0], columns=list("abcdef"))
    model = ESTIMATORS["SCEDAE"]().fit(frame)
    assert list(model.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("fedcba")])


# --- errors that help -------------------------------------------------------------


def spoilt(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


@every_estimator
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: spoilt(X, np.nan), "NaN.*row 3, column 2"),
        (lambda X: spoilt(X, np.inf), "infinity.*row 3, column 2"),
        (lambda X: sp.csr_matrix(spoilt(X, np.nan)), "row 3, column 2"),
        (lambda X: X[:2], "n_samples=2 should be >= n_clusters=3"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, :0], "0 feature"),
        (lambda X: X[0], "1D array"),
        (
            lambda X: pd.DataFrame(X).assign(name="a", town="b"),
            r"not numeric: name \(.*\), town",
        ),
    ],
)
def test_bad_rows_are_named(blobs, name, spoil, message):
    with pytest.raises(ValueError, match=message):
        ESTIMATORS[name]().fit(spoil(blobs[0]))


@every_estimator
def test_errors_of_predict(blobs, name):
    X, _ = blobs
    with pytest.raises(NotFittedError):
        ESTIMATORS[name]().predict(X)
    with pytest.raises(NotFittedError):
        ESTIMATORS[name]().save("never-written")
    model = ESTIMATORS[name]().fit(X)
    with pytest.raises(ValueError, match=r"5 features.*expecting 6"):
        model.predict(X[:, :5])


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": 0},
        {"n_clusters": 2.5},
        {"n_clusters": "three"},
        {"ensemble": "voting"},
        {"n_members": 0},
        {"hidden_layers": ()},
        {"hidden_layers": (5, 0)},
        {"hidden_layers": "wide"},
        {"encoding_dim": 0},
        {"epochs": 0},
        {"batch_size": -1},
        {"learning_rate": 0.0},
        {"schedule": "cosine"},
        {"scale": "zscore"},
        {"n_landmarks": 1},
        {"n_neighbors": 1},
        {"n_landmarks": 2},
        {"hidden_layers": (8.7, 6)},
        {"hidden_layers": ("a", 6)},
        {"embedding": "umap"},
        {"random_state": "seed"},
        {"ensemble": []},
        {"ensemble": [(5, 5)]},
    ],
)
def test_impossible_parameters_are_named(blobs, parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=name):
        ESTIMATORS["SCEDAE"](**{"k": 3} | _renamed(parameters)).fit(blobs[0])


def _renamed(parameters):
    return {("k" if n == "n_clusters" else n): v for n, v in parameters.items()}


@pytest.mark.parametrize("device", ["tpu", "meta"])
def test_an_unknown_device_is_named(blobs, device):
    with pytest.raises(DeviceError, match=device):
        ESTIMATORS["SCEDAE"](device=device).fit(blobs[0])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@every_estimator
def test_a_cpu_by_number_is_the_cpu(blobs, name):
    X, _ = blobs
    expected = ESTIMATORS[name](device="cpu").fit(X)
    model = ESTIMATORS[name](device="cpu:0").fit(X)
    assert (model.embedding_ == expected.embedding_).all()
    assert (model.predict(X) == expected.labels_).all()


@every_estimator
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_whole_numbers_of_numpy_are_whole_numbers(blobs, name, kind, tmp_path):
    """Small ones, too, in which sums of them would overflow."""
    X, _ = blobs
    small = {
        key: min(value, 100)
        for key, value in ESTIMATORS[name]().get_params().items()
        if type(value) is int and key not in ("verbose", "random_state")
    }
    expected = ESTIMATORS[name]().set_params(**small).fit(X)
    same = {key: kind(value) for key, value in small.items()}
    model = ESTIMATORS[name]().set_params(**same).fit(X)
    assert (model.embedding_ == expected.embedding_).all()
    model.save(tmp_path / "model")
    assert (type(model).load(tmp_path / "model").predict(X) == model.labels_).all()


def test_a_gpu_that_is_not_there(blobs):
    with pytest.raises(DeviceError, match="torch sees 0 GPUs here"):
        ESTIMATORS["SCEDAE"](device="cuda").fit(blobs[0])


def test_a_failed_fit_leaves_the_fitted_model_alone(blobs):
    X, _ = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    with pytest.raises(ValueError, match="n_samples"):
        model.fit(X[:2, :4])
    assert (model.predict(X) == model.labels_).all()


@every_estimator
def test_a_warning_that_is_an_error_leaves_nothing_behind(name):
    """The last word of a fit counts as well: its rows are all equal."""
    model = ESTIMATORS[name]()
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DegenerateDataWarning):
            model.fit(np.ones((40, 4)))
    assert vars(model) == before


def test_an_interrupted_fit_leaves_nothing_behind(blobs, monkeypatch):
    X, _ = blobs

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("scedae._member_training.train_runs", interrupted)
    model = ESTIMATORS["SCEDAE"]()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert vars(model) == vars(ESTIMATORS["SCEDAE"]())
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    "member",
    [
        {"epochs": 0},
        {"epochs": "auto"},
        {"n_landmarks": 1},
        {"n_landmarks": 9.5},
        {"hidden_layers": (5, 0)},
        {"hidden_layers": 5},
        {"initialization": -1},
    ],
)
def test_impossible_members_are_named(member):
    (name,) = member
    legal = {"hidden_layers": (5, 4), "epochs": 3, "n_landmarks": 9}
    with pytest.raises(ValueError, match=name):
        MemberSpec(**{**legal, **member})


def test_too_many_orders_to_take_them_all(blobs):
    with pytest.raises(ValueError, match="say how many members"):
        ESTIMATORS["SCEDAE"](hidden_layers=(9, 8, 7, 6, 5)).fit(blobs[0])
    model = ESTIMATORS["SCEDAE"](hidden_layers=tuple(range(12, 2, -1)), n_members=2)
    assert len(model.fit(blobs[0]).members_) == 2 + 3  # and on the rows


@pytest.mark.parametrize(
    ("spoil", "scale", "message"),
    [
        (lambda X: X * 1e30, "none", "too large for scale='none'"),
        (lambda X: X * 1e200, "standard", "squares overflow"),
        (lambda X: X - 50, "log", "negative values"),
    ],
)
def test_values_a_scale_cannot_take(blobs, spoil, scale, message):
    with pytest.raises(ValueError, match=message):
        ESTIMATORS["LandmarkSpectralClustering"](scale=scale).fit(spoil(blobs[0]))


def test_wild_new_rows_get_a_label(blobs):
    for name in ESTIMATORS:
        model = ESTIMATORS[name](scale="none").fit(blobs[0])
        wild = np.full((2, 6), 1e300)
        assert np.isfinite(model.transform(wild)).all()
        assert (model.predict(wild) < 3).all()


def test_a_warning_points_at_the_line_of_the_user(blobs):
    with pytest.warns(DegenerateDataWarning) as caught:
        ESTIMATORS["LandmarkSpectralClustering"](1).fit(blobs[0])
    assert caught[0].filename == __file__


def test_editing_results_does_not_edit_the_model(blobs):
    X, _ = blobs
    model = ESTIMATORS["SCEDAE"]()
    model.fit_transform(X)[:] = 0
    model.cluster_centers_ *= -1
    assert (model.predict(X) == model.labels_).all()
    assert model.embedding_.any()


def test_the_device_of_predict_is_the_parameter(blobs):
    model = ESTIMATORS["SCEDAE"]().fit(blobs[0])
    with pytest.raises(DeviceError):
        model.set_params(device="nonsense").predict(blobs[0])


def test_a_large_offset_is_no_problem(blobs):
    X, y = blobs
    for name in ESTIMATORS:
        labels = (
            ESTIMATORS[name](epochs=60).fit_predict(X + 1e9)
            if (name != "LandmarkSpectralClustering")
            else ESTIMATORS[name]().fit_predict(X + 1e9)
        )
        assert clustering_accuracy(y, labels) > 0.9


# --- odd data ---------------------------------------------------------------------


@every_estimator
def test_all_rows_equal(name):
    with pytest.warns(DegenerateDataWarning, match="all rows of X are equal"):
        model = ESTIMATORS[name]().fit(np.full((120, 3), 7.0))
    assert (model.labels_ == model.labels_[0]).all()
    assert (model.predict(np.full((2, 3), 7.0)) == model.labels_[0]).all()


@every_estimator
def test_one_cluster(blobs, name):
    with pytest.warns(DegenerateDataWarning, match="n_clusters=1"):
        model = ESTIMATORS[name](1).fit(blobs[0])
    assert not model.labels_.any()


@every_estimator
def test_one_feature(name):
    X = np.repeat([0.0, 5.0, 10.0], 60)[:, None]
    X = X + np.random.default_rng(0).normal(0, 0.1, X.shape)
    labels = ESTIMATORS[name]().fit_predict(X)
    assert clustering_accuracy(np.repeat([0, 1, 2], 60), labels) > 0.9


@every_estimator
def test_duplicated_rows_stay_together(blobs, name):
    X, y = blobs
    X, y = np.repeat(X[:30], 8, axis=0), np.repeat(y[:30], 8)
    labels = ESTIMATORS[name]().fit_predict(X)
    for start in range(0, len(X), 8):
        assert len(set(labels[start : start + 8])) == 1
    if name == "SCEDAE":
        assert clustering_accuracy(y, labels) > 0.9


@every_estimator
def test_as_many_rows_as_clusters(name):
    X = np.array([[0.0, 0], [5, 5], [9, 0]])
    labels = ESTIMATORS[name](3).fit_predict(X)
    assert sorted(labels) == [0, 1, 2]


def test_more_landmarks_than_rows(blobs):
    X, y = blobs
    with pytest.warns(DegenerateDataWarning, match="more than the 240 rows"):
        labels = ESTIMATORS["SCEDAE"](n_landmarks=1000).fit_predict(X)
    assert clustering_accuracy(y, labels) > 0.9


def test_columns_of_very_different_units(blobs):
    X, y = blobs
    labels = ESTIMATORS["SCEDAE"](epochs=60).fit_predict(
        X * [1e6, 1, 1e-6, 1e3, 1, 1] + [0, 1e9, 0, 0, 0, 5]
    )
    assert clustering_accuracy(y, labels) > 0.95


# --- collapse ---------------------------------------------------------------------


def spoil_members(monkeypatch, spoilt):
    """Make the members with the given numbers look collapsed."""
    import scedae._ensemble as ensemble

    calls = iter(range(1000))
    monkeypatch.setattr(
        ensemble,
        "is_collapsed",
        lambda codes: next(calls) in spoilt or is_collapsed(codes),
    )


def test_a_collapsed_member_is_left_out_with_a_warning(blobs, monkeypatch):
    spoil_members(monkeypatch, {1, 4})
    with pytest.warns(CollapsedMemberWarning, match="member 2, 5 of 9 collapsed"):
        model = ESTIMATORS["SCEDAE"]().fit(blobs[0])
    assert [m.collapsed for m in model.members_] == [i in (1, 4) for i in range(9)]
    assert len(model.pipeline_.members) == 7
    assert (model.predict(blobs[0]) == model.labels_).all()


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if "Landmark" not in n])
def test_a_training_that_diverges_is_an_error_that_helps(blobs, name):
    with pytest.raises(CollapsedEnsembleError, match="smaller learning_rate"):
        ESTIMATORS[name](learning_rate=1e30).fit(blobs[0])


# --- any array at all -------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@settings(max_examples=40, deadline=None)
@given(
    X=arrays(
        st.sampled_from([np.float64, np.float32, np.int32, np.uint8]),
        array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=12),
    ),
    n_clusters=st.integers(1, 5),
)
def test_any_array_gives_labels_or_a_value_error(X, n_clusters):
    model = LandmarkSpectralClustering(n_clusters, random_state=0)
    try:
        labels = model.fit_predict(X)
    except ValueError:
        return
    assert labels.shape == (len(X),)
    assert np.isfinite(model.embedding_).all()
    assert (model.predict(X) == labels).all()


@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@settings(max_examples=15, deadline=None)
@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(3, 20), st.integers(1, 6)),
        elements=st.floats(-1e300, 1e300),
    )
)
def test_extreme_values_never_reach_the_user_as_nan(X):
    member = MemberSpec((4,), 2, 5)
    model = SCEDAE(2, ensemble=[member], encoding_dim=2, random_state=0)
    try:
        labels = model.fit_predict(X)
    except (ValueError, CollapsedEnsembleError):
        return
    assert np.isfinite(model.embedding_).all()
    assert (model.predict(X) == labels).all()
