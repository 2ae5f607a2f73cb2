"""Arguments nobody should pass: one error that names the argument, or a sane answer."""

import warnings
from collections import deque

import numpy as np
import pandas as pd
import pytest

from scedae import SCEDAE
from scedae._storage import archive
from scedae.baselines import DCN, fit_seeds
from scedae.exceptions import DegenerateDataWarning
from tests.helpers import ESTIMATORS, QUICK


def quick(**settings):
    return SCEDAE(2, **{**QUICK, "epochs": 2, "random_state": 0, **settings})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_row_is_refused_by_what_was_given(name):
    with pytest.raises(ValueError, match=r"n_samples=1 should be >= 2"):
        ESTIMATORS[name](1).fit(np.ones((1, 4)))


@pytest.mark.parametrize("unit", ["datetime64[s]", "timedelta64[s]"])
def test_times_are_no_numbers(unit):
    with pytest.raises(ValueError, match=f"X holds {unit.split('[')[0]}"):
        quick().fit(np.zeros((60, 2), unit))


@pytest.mark.parametrize(
    "column",
    [pd.date_range("2020", periods=60), pd.Categorical(["a", "b"] * 30)],
    ids=["dates", "categories"],
)
def test_columns_of_other_kinds_are_named(column):
    frame = pd.DataFrame({"x": np.arange(60.0), "kind": column})
    with pytest.raises(ValueError, match="not numeric: kind"):
        quick().fit(frame)


def test_none_in_a_list_of_lists_is_a_missing_number():
    with pytest.raises(ValueError, match=r"NaN.*row 1, column 0"):
        quick().fit([[1.0, 2.0], [None, 1.0], [3.0, 4.0]])


def test_objects_that_are_no_numbers_are_refused():
    X = np.array([[pd.Timestamp("2020"), 1]] * 60, dtype=object)
    with pytest.raises(TypeError, match="X cannot be used as numbers"):
        quick().fit(X)


@pytest.mark.parametrize(
    "layers",
    [range(4, 7), pd.Series([4, 5]), deque([4, 5]), np.array([4, 5], np.uint8)],
    ids=lambda value: type(value).__name__,
)
def test_what_fits_can_be_saved(layers, rng, tmp_path):
    X = rng.random((60, 3))
    model = quick(hidden_layers=layers).fit(X)
    model.save(tmp_path / "model")
    loaded = SCEDAE.load(tmp_path / "model")
    assert loaded.hidden_layers == tuple(layers)
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)


@pytest.mark.parametrize(
    "layers",
    [{4, 5}, {4: 1}, (True, 4), (4.0,), np.array(4), ((4,), 5), (), (0,), (10**9,)],
    ids=str,
)
def test_layers_that_are_none(layers, rng):
    with pytest.raises(ValueError, match="hidden_layers"):
        quick(hidden_layers=layers).fit(rng.random((60, 3)))


def test_a_masked_number_is_refused_and_a_mask_of_nothing_is_not(rng):
    X = np.ma.array(rng.random((60, 3)), mask=False)
    model = quick().fit(X)
    X[7, 2] = np.ma.masked
    for call in (quick().fit, model.predict, model.transform):
        with pytest.raises(ValueError, match=r"masked array.*at 7, 2"):
            call(X)


def test_a_warning_that_is_an_error_leaves_no_fitted_estimator():
    model = quick()
    with warnings.catch_warnings(), pytest.raises(DegenerateDataWarning):
        warnings.simplefilter("error")
        model.fit(np.ones((60, 3)))
    assert not hasattr(model, "labels_") and not hasattr(model, "pipeline_")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"hidden_layers": (10**6, 10**6)}, MemoryError),
        ({"hidden_layers": (10**12,)}, ValueError),
        ({"encoding_dim": 10**12}, ValueError),
        ({"epochs": 10**18}, ValueError),
        ({"n_members": 10**9}, ValueError),
        ({"n_row_members": 10**12}, ValueError),
        ({"learning_rate": float("inf")}, ValueError),
        ({"n_clusters": 10**18}, ValueError),
    ],
    ids=str,
)
def test_huge_parameters_are_named(settings, error, rng):
    (name,) = settings
    with pytest.raises(error, match=name):
        quick().set_params(**settings).fit(rng.random((60, 3)))


@pytest.mark.parametrize("name", ["n_landmarks", "n_neighbors", "n_directions"])
def test_more_than_there_is_means_all_there_is(name, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quick(**{name: 10**18}).fit(rng.random((60, 3)))
    assert set(model.labels_) <= {0, 1}


@pytest.mark.parametrize("seeds", [[], (), 3, None], ids=str)
def test_no_seeds(seeds, rng):
    with pytest.raises(ValueError, match="seeds="):
        fit_seeds(DCN(2), rng.random((60, 3)), seeds)


def test_what_may_not_be_read_is_not_reported_as_missing(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(archive, "read_bytes", refuse)
    with pytest.raises(PermissionError):
        SCEDAE.load(tmp_path / "model")
