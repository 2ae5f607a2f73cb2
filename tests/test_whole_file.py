"""Files that appear when they are complete, or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from scedae import _whole_file
from scedae._whole_file import sweep, temporary_name, whole_file


def test_a_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "labels.csv"
    with whole_file(target) as path:
        path.write_text("new")
        assert path.parent == tmp_path and path.name.startswith(".labels.csv.")
        assert not target.exists()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["labels.csv"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_after_an_error_the_former_file_is_there_and_nothing_else(tmp_path, error):
    target = tmp_path / "labels.csv"
    target.write_text("former")
    with pytest.raises(error), whole_file(target) as path:
        path.write_text("half")
        raise error
    assert target.read_text() == "former"
    assert os.listdir(tmp_path) == ["labels.csv"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end_costs_nothing(tmp_path, monkeypatch, call):
    target = tmp_path / "labels.csv"
    target.write_text("former")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left"), whole_file(target) as path:
        path.write_text("new")
    assert target.read_text() == "former"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_bytes_reach_the_disk_before_the_name(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda h: (calls.append("fsync"), fsync(h)))
    monkeypatch.setattr(os, "replace", lambda *a: (calls.append("name"), replace(*a)))
    with whole_file(tmp_path / "a") as path:
        path.write_text("x")
    assert calls == ["fsync", "name", "fsync"]  # of the file, and of its folder


def test_others_may_read_what_a_plain_open_would_let_them_read(tmp_path):
    (tmp_path / "plain").touch()
    with whole_file(tmp_path / "whole") as path:
        path.write_text("x")
        path.chmod(0o600)  # as safetensors does
    modes = [stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("plain", "whole")]
    assert modes[0] == modes[1]


def test_writers_of_one_file_do_not_meet(tmp_path):
    """Threads, and processes of one number in two containers."""
    target, both = tmp_path / "model", threading.Barrier(2)

    def write(text):
        with whole_file(target) as path:
            path.write_text(text)
            both.wait(10)

    writers = [threading.Thread(target=write, args=(t * 1000,)) for t in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert target.read_text() in ("a" * 1000, "b" * 1000)
    assert os.listdir(tmp_path) == ["model"]
    assert len({temporary_name(target) for _ in range(100)}) == 100


def test_a_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"there is no folder .*absent"),
        whole_file(tmp_path / "absent" / "file"),
    ):
        pass


def kill_while_writing(target):
    """A process that is killed before its file is complete."""
    code = (
        "import os, sys, signal; from scedae._whole_file import whole_file\n"
        "with whole_file(sys.argv[1]) as path:\n"
        "    path.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, target])
    assert done.returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_swept_by_the_next(tmp_path):
    target = tmp_path / "labels.csv"
    kill_while_writing(target)
    assert len(os.listdir(tmp_path)) == 1
    with whole_file(target) as path:
        path.write_text("new")
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_the_living_are_not_swept(tmp_path):
    target = tmp_path / "labels.csv"
    with whole_file(target) as first:
        first.write_text("first")
        sweep(tmp_path)
        with whole_file(target) as second:
            second.write_text("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_files_of_others_are_not_swept(tmp_path):
    names = [".labels.csv.tmp", ".labels.csv.12.tmp", "labels.csv.0123456789abcdef.tmp"]
    for name in names:
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_where_there_are_no_locks_files_are_written_all_the_same(tmp_path, monkeypatch):
    def refuse(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    left = temporary_name(tmp_path / "a")
    left.touch()
    monkeypatch.setattr(_whole_file.fcntl, "flock", refuse)
    with whole_file(tmp_path / "a") as path:
        path.write_text("x")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", left.name])
    monkeypatch.setattr(_whole_file, "fcntl", None)
    with whole_file(tmp_path / "a") as path:
        path.write_text("y")
    assert (tmp_path / "a").read_text() == "y"


def test_who_sweeps_while_a_file_is_made_costs_another_attempt(tmp_path, monkeypatch):
    touched = []

    def touch_and_lose(path):
        touched.append(path)
        path.touch()
        if len(touched) == 1:
            path.unlink()

    monkeypatch.setattr(_whole_file, "_touch", touch_and_lose)
    with whole_file(tmp_path / "a") as path:
        path.write_text("x")
    assert len(touched) == 2 and os.listdir(tmp_path) == ["a"]
