"""A small world to run the paper in."""

import shutil

import pytest

from scedae.experiments import runner
from scedae.experiments.specification import NAMES
from tests.experiments import tiny


class Silence:
    """A reporter that only counts."""

    def __init__(self):
        self.n_runs, self.records = 0, []

    def begin(self, n_runs):
        self.n_runs = n_runs

    def finished(self, record):
        self.records.append(record)

    def say(self, text):
        pass


def run_names(names, folder, data=("usps",), **more):
    """Runs names in this process; returns the records that were made."""
    reporter = Silence()
    runner.run(names, folder=folder, data=data, workers=1, reporter=reporter, **more)
    assert reporter.n_runs == len(reporter.records)
    return reporter.records


@pytest.fixture
def small_world(monkeypatch):
    tiny.set_up(monkeypatch.setattr)


@pytest.fixture
def reproduce(small_world, tmp_path):
    """Runs names in a folder of its own, ``reproduce.folder``."""

    def run(*names, folder=tmp_path / "paper", **more):
        return run_names(names, folder, **more)

    run.folder = tmp_path / "paper"
    return run


@pytest.fixture(scope="session")
def everything(tmp_path_factory):
    """A folder with all there is, made once, and its records."""
    folder = tmp_path_factory.mktemp("everything") / "paper"
    with pytest.MonkeyPatch.context() as patch:
        tiny.set_up(patch.setattr)
        return folder, run_names(list(NAMES), folder)


@pytest.fixture
def finished(everything, reproduce):
    """As ``reproduce``, in a copy of the folder with all there is."""
    shutil.copytree(everything[0], reproduce.folder)
    return reproduce
