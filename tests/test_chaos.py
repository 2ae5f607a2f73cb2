"""The kills of ``make chaos`` fall when they should, and are noticed."""

import importlib
import signal
from pathlib import Path

import pytest

from benchmarks.chaos_kills import Blow, run_apart
from scedae._whole_file import leftovers, whole_file


def write():
    for name in ("a", "b"):
        with whole_file(name) as path:
            path.write_text(name)


@pytest.mark.parametrize("name", ["chaos", "chaos_dask", "soak"])
def test_what_is_killed_can_be_imported(name):
    importlib.import_module(f"benchmarks.{name}")


def test_the_same_work_changes_files_as_often(tmp_path):
    first, second = (run_apart(write, tmp_path) for _ in range(2))
    assert first.code == second.code == 0
    assert first.usual.n_changes == second.usual.n_changes > 4
    assert not first.was_hit
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_blow_falls_at_its_change(tmp_path, number):
    """At every change of a file: the former one, the new one, or none."""
    n_changes = run_apart(write, tmp_path).usual.n_changes
    for change in range(1, n_changes + 1):
        for path in tmp_path.iterdir():
            path.unlink()
        done = run_apart(write, tmp_path, Blow(number, change=change))
        assert done.was_hit and done.code in (-number, -signal.SIGKILL)
        found = {p.name: p.read_text() for p in tmp_path.glob("[ab]")}
        assert found in ({}, {"a": "a"}, {"a": "a", "b": "b"})
        assert len(leftovers(tmp_path)) <= 1


def test_a_process_that_was_left_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.chaos_kills._MOMENT", 0.2)

    def leave():
        import subprocess

        child = subprocess.Popen(["sleep", "60"])
        Path("child").write_text(str(child.pid))

    assert run_apart(leave, tmp_path).left_processes
