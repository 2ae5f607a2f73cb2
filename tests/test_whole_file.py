"""Files that appear when they are complete, or not at all."""

import os
import stat
import threading

import pytest

from scedae._whole_file import temporary_name, whole_file


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
