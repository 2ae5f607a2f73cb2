"""A fit is check, prepare, run, store; if any of them fails, nothing has changed."""

import warnings

import numpy as np
import pytest

from scedae._shell import spectral
from scedae.exceptions import DegenerateDataWarning, UnstableClustersWarning
from tests.helpers import ESTIMATORS, SPECTRAL

STEPS = ("_check", "_prepare", "_run", "_keep", "_store")


def failing_after(method):
    """The step does all of its work, and then something goes wrong."""

    def step(self, *arguments):
        method(self, *arguments)
        raise KeyboardInterrupt

    return step


def same(before, after):
    return before.keys() == after.keys() and all(
        before[name] is after[name] for name in before
    )


@pytest.fixture(scope="module")
def fitted():
    """Every estimator, fitted once on other rows than the tests fail on."""
    rows = np.random.default_rng(0).standard_normal((40, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: make().fit(rows) for name, make in ESTIMATORS.items()}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_whichever_step_fails_the_estimator_is_as_it_was(
    name, step, fitted, blobs, monkeypatch
):
    for model in (ESTIMATORS[name](), fitted[name]):
        before = dict(vars(model))
        with monkeypatch.context() as patch:
            method = getattr(type(model), step)
            patch.setattr(type(model), step, failing_after(method))
            with pytest.raises(KeyboardInterrupt):
                model.fit(blobs[0])
        assert same(before, vars(model))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_warning_that_is_an_error_leaves_the_estimator_as_it_was(name):
    model = ESTIMATORS[name]()
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DegenerateDataWarning, match="all rows of X are equal"):
            model.fit(np.ones((30, 4)))
    assert same(before, vars(model))


@pytest.mark.parametrize("name", SPECTRAL)
def test_doubts_that_are_errors_leave_the_estimator_as_it_was(name, blobs, monkeypatch):
    monkeypatch.setattr("scedae._validation._LEAST_TRUST", 2)
    model = ESTIMATORS[name]()
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnstableClustersWarning)
        with pytest.raises(UnstableClustersWarning, match="no sure thing"):
            model.fit(blobs[0])
    assert same(before, vars(model))


def test_nothing_is_stored_before_the_last_step(blobs, monkeypatch):
    """So no step can read what an earlier fit has left."""
    for name, make in ESTIMATORS.items():
        model = make()
        seen = []

        def store(self, start, result, seen=seen):
            seen.append({attribute for attribute in vars(self) if attribute[-1] == "_"})

        with monkeypatch.context() as patch:
            patch.setattr(type(model), "_store", store)
            model.fit(blobs[0])
        assert seen == [{"n_features_in_"}], name


def test_estimators_override_none_of_the_steps_of_another():
    """Each step has one implementation in the line of classes of an estimator."""
    for name, make in ESTIMATORS.items():
        for step in (*STEPS, "fit"):
            homes = [
                c
                for c in type(make()).__mro__
                if step in vars(c)
                and not getattr(vars(c)[step], "__isabstractmethod__", False)
            ]
            assert len(homes) == 1, (name, step, homes)


def test_landmarks_are_checked_before_anything_is_trained(blobs, monkeypatch):
    monkeypatch.setattr(spectral, "fit_pipeline", None)
    for name in SPECTRAL:
        with pytest.raises(ValueError, match="n_landmarks=2 is less than n_clusters=3"):
            ESTIMATORS[name](n_landmarks=2).fit(blobs[0])
