"""What effort asks for, and what it leaves to parameters that were given."""

from __future__ import annotations

import numpy as np
import pytest

from scedae import SCEDAE
from scedae._defaults import (
    BASELINE,
    EFFORTS,
    resolve_epochs,
    resolve_hidden_layers,
    resolve_landmarks,
    resolve_row_members,
)
from scedae.datasets import make_tetra


def test_more_effort_is_more_work():
    fast, default, best = (EFFORTS[name] for name in ("fast", "default", "best"))
    for less, more in ((fast, default), (default, best)):
        assert less.n_members < more.n_members
        assert less.large_steps < more.large_steps
        assert sum(less.layers) <= sum(more.layers)
        epochs = [resolve_epochs("auto", (500,), 70_000, 256, e) for e in (less, more)]
        assert epochs[0] < epochs[1]


def test_what_each_effort_trains_on_many_rows():
    widths, passes = {}, {}
    for name, effort in {**EFFORTS, "baseline": BASELINE}.items():
        widths[name] = resolve_hidden_layers("auto", 70_000, 784, effort)
        passes[name] = resolve_epochs("auto", widths[name], 70_000, 256, effort)
    assert widths == {
        "fast": (512, 384, 256),
        "default": (256, 384, 512),
        "best": (500, 750, 1000),
        "baseline": (500, 750, 1000),
    }
    assert passes == {"fast": 8, "default": 60, "best": 100, "baseline": 30}


def test_small_data_have_small_networks_at_any_effort():
    for effort in EFFORTS.values():
        assert max(resolve_hidden_layers("auto", 1797, 64, effort)) < 100


def test_few_columns_have_small_networks_however_many_the_rows():
    for effort in EFFORTS.values():
        assert max(resolve_hidden_layers("auto", 1_000_000, 32, effort)) < 100
        assert max(resolve_hidden_layers("auto", 1_000_000, 33, effort)) > 100
    # The baselines learn rows as published, and were not looked at.
    assert max(resolve_hidden_layers("auto", 20_000, 16, BASELINE)) > 100


def test_landmarks_grow_with_the_rows_until_there_are_many():
    default = EFFORTS["default"]
    found = [resolve_landmarks("auto", n, default) for n in (60, 1797, 70_000, 100_001)]
    assert found == [60, 898, 4000, 1000]
    planes = [resolve_landmarks("auto", 4096, default, d) for d in (1, 2, 3, 64)]
    assert planes == [200, 400, 800, 2048]
    assert resolve_landmarks("auto", 10**6, default, n_columns=2) == 400
    assert resolve_landmarks(321, 10**6, default) == 321


def test_members_on_the_rows_only_where_landmarks_lie_dense():
    default = EFFORTS["default"]

    def resolved(n_rows, n_columns, told=None):
        n_landmarks = resolve_landmarks("auto", n_rows, default, n_columns)
        return resolve_row_members(told, n_landmarks, n_rows, n_columns, default)

    assert resolved(1797, 64) == resolved(20_000, 16) == default.n_row_members
    assert resolved(70_000, 784) == resolved(10**6, 50) == 0
    assert resolved(10**6, 2) == default.n_row_members  # 400 landmarks cover a plane
    assert resolved(70_000, 784, told=4) == 4


def test_fast_takes_fewer_members():
    X, y = make_tetra(200, random_state=0)
    model = SCEDAE(4, effort="fast", random_state=0).fit(X)
    kinds = [bool(member.spec.hidden_layers) for member in model.members_]
    assert kinds == [True] * 2 + [False] * 2
    assert len(np.unique(model.labels_[y == y[0]])) == 1
    told = SCEDAE(
        4,
        effort="fast",
        n_members=1,
        n_row_members=0,
        epochs=3,
        n_landmarks=50,
        random_state=0,
    ).fit(X)
    assert [m.spec.n_landmarks for m in told.members_] == [50]
    assert told.members_[0].spec.epochs == 3


def test_an_effort_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="effort"):
        SCEDAE(2, effort="huge").fit(np.eye(9))


def test_the_paper_knows_nothing_of_the_recipe(blobs):
    # A fixed seed: networks this narrow die from some starts.
    settings = {"hidden_layers": (8, 6), "epochs": 2, "n_landmarks": 40}
    model = SCEDAE.paper(3, random_state=0, **settings).fit(blobs[0])
    assert all(member.spec.hidden_layers for member in model.members_)
    assert model.pipeline_.scaler.directions is None


def test_directions_given_or_none(blobs):
    X, _ = blobs
    few = SCEDAE(3, n_directions=2, epochs=3, random_state=0).fit(X)
    assert few.pipeline_.scaler.n_columns == 2
    assert (few.predict(X) == few.labels_).all()
    plain = SCEDAE(3, n_directions=None, epochs=3, random_state=0).fit(X)
    assert plain.pipeline_.scaler.directions is None
