"""What a user has set for torch changes no result, and is as it was afterwards."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch

from scedae._plain_torch import plain_torch
from tests.helpers import ESTIMATORS

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@contextmanager
def default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        yield
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@contextmanager
def default_device():
    torch.set_default_device("meta")
    try:
        yield
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)


@contextmanager
def autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield
        assert torch.is_autocast_enabled("cpu")


@contextmanager
def inference_mode():
    with torch.inference_mode():
        yield
        assert torch.is_inference_mode_enabled()


@contextmanager
def low_precision():
    torch.set_float32_matmul_precision("medium")
    try:
        yield
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


SETTINGS = (default_dtype, default_device, autocast, inference_mode, low_precision)


@pytest.fixture(scope="module")
def plain():
    """Fits with nothing set, by estimator."""
    X = np.random.default_rng(0).standard_normal((90, 5))
    X[:30] += 4
    return X, {name: make().fit(X) for name, make in ESTIMATORS.items()}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.__name__)
@every_estimator
def test_results_are_those_of_a_plain_fit(name, setting, plain, tmp_path):
    X, fitted = plain
    expected = fitted[name]
    with setting():
        model = ESTIMATORS[name]().fit(X)
        labels, points = expected.predict(X), expected.transform(X)
        expected.save(tmp_path / "model")
        loaded = type(expected).load(tmp_path / "model")
        loaded_labels, score = loaded.predict(X), expected.score(X)
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.embedding_, expected.embedding_)
    assert np.array_equal(labels, expected.labels_)
    assert np.array_equal(points, expected.embedding_)
    assert np.array_equal(loaded_labels, expected.labels_)
    assert score == expected.score(X)
    # What was learnt inside can be used outside.
    assert np.array_equal(model.predict(X), expected.labels_)
    assert model.pipeline_.centers.clone().add_(1).isfinite().all()


def test_a_torch_that_cannot_say_its_default_device(monkeypatch):
    """Version 2.4, after ``set_default_device(None)``: then it is the CPU."""

    def fail():
        raise AttributeError("'NoneType' object has no attribute 'device'")

    monkeypatch.setattr(torch, "get_default_device", fail)
    with plain_torch():
        assert torch.zeros(1).device.type == "cpu"
