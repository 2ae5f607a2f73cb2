"""What Windows refuses, refused here: the package must get along without it.

No substitute for a run on Windows, but for what is known to break there: a file that is
open or mapped can be neither renamed nor deleted, a folder cannot be opened, only what
may be written can be synchronised, and there are no locks, no SIGHUP, no affinity.
"""

import ast
import errno
import io
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import scedae
from scedae import SCEDAE, _whole_file, cli, read_table
from scedae._rows import results
from scedae.cli.app import app
from scedae.experiments.folder import claimed
from scedae.experiments.specification import load_specification
from tests.conftest import POSIX_FILES, POSIX_TESTS

PACKAGE = Path(scedae.__file__).parent
OPENS_BYTES = {"gzip", "os", "zarr"}  # their ``open`` takes no text, or is not Python's

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="/proc says which files are open"
)


def in_use() -> set[str]:
    """Files that this process has open or mapped."""
    handles = Path("/proc/self/fd").iterdir()
    opened = {os.readlink(h) for h in handles if os.path.lexists(h)}
    lines = Path("/proc/self/maps").read_text().splitlines()
    return opened | {line.split(maxsplit=5)[-1] for line in lines if "/" in line}


def refuse_if_used(path):
    name = os.path.realpath(path)
    if any(used == name or used.startswith(f"{name}{os.sep}") for used in in_use()):
        raise PermissionError(errno.EACCES, "it is used by another process", str(path))


@pytest.fixture
def windows(monkeypatch):
    import fcntl

    monkeypatch.setattr(_whole_file, "fcntl", None)
    monkeypatch.setattr(_whole_file, "_ON_WINDOWS", True)
    monkeypatch.setattr(results, "_MAPPED_FILES_GET_NAMES", False)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(shutil, "_use_fd_functions", False)  # it opens folders
    monkeypatch.delattr(signal, "SIGHUP")
    for name in ("sched_getaffinity", "O_NONBLOCK", "mkfifo", "geteuid", "fork"):
        monkeypatch.delattr(os, name)

    usual = {name: getattr(os, name) for name in ("open", "fsync", "rename")}

    def open_(path, flags, *more, **options):
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return usual["open"](path, flags, *more, **options)

    def fsync(file):
        handle = file if isinstance(file, int) else file.fileno()
        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        usual["fsync"](handle)

    def rename(source, target, **options):
        refuse_if_used(source)
        if os.path.exists(target):
            raise FileExistsError(errno.EEXIST, "File exists", str(target))
        usual["rename"](source, target, **options)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)

    def careful(name):
        usual = getattr(os, name)

        def call(path, *more, **options):
            for each in (path, *more):
                refuse_if_used(each)
            return usual(path, *more, **options)

        monkeypatch.setattr(os, name, call)

    for name in ("replace", "unlink", "remove", "rmdir"):
        careful(name)


@pytest.fixture
def model(blobs):
    return SCEDAE(3, effort="fast", epochs=2, n_members=2, random_state=0).fit(blobs[0])


def test_the_refusals_are_real(windows, tmp_path):
    path = tmp_path / "a"
    with path.open("wb") as file:
        with pytest.raises(PermissionError):
            path.rename(tmp_path / "b")
        with pytest.raises(PermissionError):
            path.unlink()
        file.write(bytes(4096))
    rows = np.memmap(path, mode="r")
    with pytest.raises(PermissionError):
        os.replace(path, tmp_path / "b")
    with pytest.raises(PermissionError):
        os.open(tmp_path, os.O_RDONLY)
    with path.open("rb") as file, pytest.raises(OSError, match="Bad file"):
        os.fsync(file.fileno())
    del rows
    path.rename(tmp_path / "b")


def test_models_are_saved_and_replaced(windows, model, blobs, tmp_path):
    for _ in range(2):
        model.save(tmp_path / "m.scedae")
        again = SCEDAE.load(tmp_path / "m.scedae")
    assert np.array_equal(again.predict(blobs[0]), model.labels_)
    assert os.listdir(tmp_path) == ["m.scedae"]


@pytest.mark.parametrize("stored", [False, True])
def test_labels_become_a_file(windows, model, blobs, tmp_path, stored):
    X = blobs[0]
    if stored:
        np.save(tmp_path / "rows.npy", X)
        X = tmp_path / "rows.npy"
    labels = model.predict(X, out=tmp_path / "labels.npy")
    assert np.array_equal(labels, model.labels_)
    assert np.array_equal(np.load(tmp_path / "labels.npy"), labels)


def test_a_fit_on_a_file_with_checkpoints(windows, blobs, tmp_path):
    np.save(tmp_path / "rows.npy", blobs[0])
    fits = [
        SCEDAE(
            3,
            effort="fast",
            epochs=2,
            n_members=2,
            checkpoint_dir=tmp_path / "kept",
            random_state=0,
        ).fit(tmp_path / "rows.npy")
        for _ in range(2)
    ]
    assert np.array_equal(fits[0].labels_, fits[1].labels_)


def test_the_command(windows, blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(blobs[0], schema=[f"x{i}" for i in range(6)])
    frame.write_csv("rows.csv")
    quick = ["--epochs", "2", "--members", "2", "--seed", "0", "--quiet"]
    for line in (
        ["fit", "rows.csv", "-k", "3", "-o", "run", *quick],
        ["fit", "rows.csv", "-k", "3", "-o", "run", "--force", "--no-report", *quick],
        ["predict", "run", "rows.csv", "-o", "labels.csv"],
        ["predict", "run", "rows.csv", "-o", "labels.csv", "--force"],
        ["predict", "run", "rows.csv", "-o", "labels.parquet", "--keep-columns"],
    ):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.output
    assert pl.read_csv("labels.csv").height == len(frame)
    assert not list(tmp_path.glob(".*"))


def test_tables_that_are_copied_to_be_read(windows, tmp_path):
    (tmp_path / "a.csv").write_bytes("größe;x\n1,5;2\n3;4\n".encode("cp1252"))
    assert read_table(tmp_path / "a.csv").columns == ["größe", "x"]


def test_a_folder_of_experiments(windows, tmp_path):
    with claimed(tmp_path, load_specification()):
        pass
    with claimed(tmp_path, load_specification()):
        pass


def test_signals_that_are_not_there(windows, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda number, action: None)
    assert cli._Signals().number is None


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_pipe_gets_utf8_whatever_the_system_speaks(monkeypatch, encoding):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding=encoding, newline="\r\n")
    monkeypatch.setattr(sys, "stdout", stdout)
    cli._speak_utf8()
    stdout.write("κύτταρο\n")
    stdout.flush()
    assert raw.getvalue() == "κύτταρο\n".encode()


def test_what_a_user_says_about_the_pipe_holds(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stdout)
    cli._speak_utf8()
    stdout.write("ß → κ")
    stdout.flush()
    assert raw.getvalue() == b"\xdf \\u2192 \\u03ba"


def test_what_is_left_out_on_windows_exists():
    tests = Path(__file__).parent
    assert [name for name in POSIX_FILES if not (tests / name).is_file()] == []
    text = "".join(path.read_text("utf-8") for path in tests.rglob("test_*.py"))
    assert [name for name in POSIX_TESTS if f"def {name}(" not in text] == []


def without_encoding(call: ast.Call) -> bool:
    """Whether a call opens text as the language of the system has it."""
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    if name not in {"open", "read_text", "write_text"}:
        return False
    if any(keyword.arg == "encoding" for keyword in call.keywords):
        return False
    if name != "open":
        return len(call.args) < (1 if name == "read_text" else 2)
    method = isinstance(call.func, ast.Attribute)
    if method and getattr(call.func.value, "id", None) in OPENS_BYTES:
        return False
    modes = call.args[0 if method else 1 :]
    return not any(isinstance(m, ast.Constant) and "b" in str(m.value) for m in modes)


def test_text_is_never_read_or_written_as_the_system_has_it():
    found = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and without_encoding(call)
    ]
    assert found == []
