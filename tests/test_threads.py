"""Threads of a fit: who works on what, and what is left as it was."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from scedae import SCEDAE
from scedae._threads import (
    helpers,
    n_threads,
    one_blas_thread,
    own_threads,
    share_out,
)
from tests.helpers import ESTIMATORS

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture
def three_threads(monkeypatch):
    """Three threads are allowed, however many cores this machine has."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 16)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)


def test_work_is_shared_in_order(three_threads):
    names = set()

    def square(number):
        names.add(threading.current_thread().name)
        time.sleep(0.01)
        return number**2, torch.get_num_threads()

    with own_threads():
        assert n_threads() == 3
        found = share_out(square, range(20))
    assert found == [(n**2, 1) for n in range(20)]
    assert len(names) == 3
    assert not [t for t in threading.enumerate() if t.name.startswith("scedae")]


def test_without_a_fit_there_are_no_workers():
    assert n_threads() == 1
    here = threading.current_thread()
    assert share_out(lambda _: threading.current_thread(), range(3)) == [here] * 3


def test_workers_do_not_share_out_further(three_threads):
    def inner(_):
        return threading.current_thread()

    def outer(_):
        mine = threading.current_thread()
        return share_out(inner, range(3)) == [mine] * 3

    with own_threads():
        assert all(share_out(outer, range(4)))


def test_the_first_error_ends_the_rest(three_threads):
    begun, told = [], threading.Event()

    def work(number):
        begun.append(number)
        if number == 2:
            raise ZeroDivisionError
        told.wait(10)

    with own_threads(), pytest.raises(ZeroDivisionError):
        share_out(work, range(50), on_error=told.set)
    assert len(begun) < 20


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals")
def test_control_c_while_this_thread_waits_ends_the_others(three_threads):
    told, begun = threading.Event(), threading.Event()
    here = threading.current_thread()

    def control_c():
        # The signal itself: a flag alone would not wake a thread that waits.
        signal.pthread_kill(here.ident, signal.SIGINT)

    def work(number):
        if threading.current_thread() is here:
            begun.wait(10)
            threading.Timer(0.2, control_c).start()
        else:
            begun.set()
            assert told.wait(10), "nobody told this one to stop"

    with pytest.raises(KeyboardInterrupt), own_threads():
        share_out(work, range(3), on_error=told.set)


def test_a_fit_inside_a_fit_has_its_threads(three_threads):
    with own_threads(), own_threads():
        assert n_threads() == 3
    assert n_threads() == 1


def test_a_helper_may_be_given_threads(three_threads):
    def outer(_):
        with helpers(2):
            both = threading.Barrier(2, timeout=10)
            return n_threads(), share_out(lambda _: both.wait() < 2, range(2))

    with own_threads():
        assert share_out(outer, range(2)) == [(2, [True, True])] * 2
        assert n_threads() == 3


def test_never_more_threads_than_the_quota_allows(three_threads, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    with own_threads():
        assert n_threads() == 2


def test_overlapping_fits_leave_the_number_of_threads(three_threads):
    """The first to come is the first to leave; a thread born inside is no exception."""
    inside, leave = threading.Event(), threading.Event()

    def other():
        with own_threads():
            inside.set()
            leave.wait(10)

    with own_threads():
        second = threading.Thread(target=other)
        second.start()
        inside.wait(10)
    leave.set()
    second.join()
    found = []
    late = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    late.start()
    late.join()
    assert found == [3]


def blas_threads():
    return [
        each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"
    ]


def test_overlapping_fits_leave_blas_as_it_was():
    before = blas_threads()
    one_blas_thread.__enter__()
    one_blas_thread.__enter__()
    one_blas_thread.__exit__()
    assert set(blas_threads()) == {1}
    one_blas_thread.__exit__()
    assert blas_threads() == before


@every_estimator
def test_a_fit_leaves_the_settings_of_torch(name, blobs, three_threads):
    X, _ = blobs
    model = ESTIMATORS[name]().fit(X)
    model.predict(X[:5])
    assert torch.get_num_threads() == 3
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan))
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize("hidden_layers", [(12, 8), (300, 40)])
def test_any_number_of_threads_gives_the_same_bits(hidden_layers, blobs, monkeypatch):
    """One member or several, small or large: as many groups as threads, or fewer."""
    monkeypatch.setattr(joblib, "cpu_count", lambda: 16)
    X = np.tile(blobs[0], (2, 8))
    before, found = torch.get_num_threads(), []
    try:
        for n_threads in (1, 2, 5):
            torch.set_num_threads(n_threads)
            model = SCEDAE(
                3, hidden_layers=hidden_layers, n_members=2, epochs=3, random_state=0
            ).fit(X)
            found.append((model.embedding_, model.confidence_))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(map(np.array_equal, found[0], other))


def test_the_environment_is_respected():
    code = (
        "import torch, scedae._threads as t\nwith t.own_threads(): print(t.n_threads())"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    output = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output.strip() == "1"
