"""The command in a process of its own: streams, exit codes, Ctrl-C, help."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import scedae
from scedae import SCEDAE

COMMAND = [sys.executable, "-m", "scedae"]
# Plain text of one width, whatever terminal the tests run in.
PLAIN = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def shell(folder, *arguments):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        env=PLAIN,
    )


def test_fit_then_predict(csv, frame, tmp_path):
    columns = ["--id-column", "name", "--labels", "group"]
    quick = ["--epochs", 5, "--members", 2, "--json", "--no-report"]
    done = shell(tmp_path, "fit", csv, "-k", 3, "-o", "run", *columns, *quick)
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert run["scores"]["acc"] == 1
    # Not a terminal: plain lines, one for each tenth of the work.
    assert "\r" not in done.stderr
    assert 3 <= len(done.stderr.splitlines()) <= 12
    # A seed was drawn and written down.
    model = SCEDAE.load(tmp_path / "run" / "model.scedae")
    assert model.seed_ == run["seed"]

    done = shell(tmp_path, "predict", "run/model.scedae", csv, "--id-column", "name")
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "run" / "labels.csv").read_text()
    assert done.stderr.startswith("scedae: 240 rows")


def test_bad_input_is_one_line(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,inf\n")
    done = shell(tmp_path, "fit", "a.csv", "-k", 2, "-o", "run")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "column 'b' has 1 infinite" in done.stderr


@pytest.mark.parametrize(
    ("number", "force"),
    [
        pytest.param(signal.SIGINT, False, marks=pytest.mark.slow),
        (signal.SIGINT, True),
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.slow),
        (signal.SIGHUP, False),
    ],
)
def test_a_signal_leaves_nothing_half_written(tmp_path, number, force):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((2000, 20)))
    if force:
        (tmp_path / "run").mkdir()
        about = {"estimator": "SCEDAE", "versions": {"scedae": "0.1.0"}}
        (tmp_path / "run" / "run.json").write_text(json.dumps(about))
    before = {p.name for p in tmp_path.rglob("*")}
    options = ["-k", "3", "-o", "run", "--epochs", "100000"]
    process = subprocess.Popen(
        [*COMMAND, "fit", "a.npy", *options, *(["--force"] if force else [])],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=PLAIN,
    )
    try:
        # The folder to fill stands there while the fit runs.
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".run.*")) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert list(tmp_path.glob(".run.*"))
        time.sleep(1)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert out == ""
    if number == signal.SIGINT:
        assert err.splitlines()[-1] == "scedae: interrupted; nothing was written."
    assert "Traceback" not in err
    assert {p.name for p in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("number", "module"),
    [
        (signal.SIGINT, "typer"),
        (signal.SIGTERM, "numpy"),
        (signal.SIGINT, "torch"),
        (signal.SIGTERM, "polars"),
    ],
)
def test_a_signal_during_imports_prints_no_traceback(tmp_path, number, module):
    """The signal comes while a module is imported, and becomes another error there."""
    np.save(tmp_path / "a.npy", np.zeros((20, 2)))
    code = (
        "import sys, os, signal\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            try:\n"
        f"                os.kill(os.getpid(), {int(number)})\n"
        "            except BaseException as error:\n"
        "                raise ImportError('broken') from error\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.argv = ['scedae', 'fit', 'a.npy', '-k', '2', '-o', 'run']\n"
        "from scedae.cli import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=PLAIN,
    )
    assert done.returncode == 128 + number
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_a_closed_pipe_is_no_error(npy, tmp_path):
    model = SCEDAE(3, epochs=1, n_members=1, random_state=0).fit(np.load(npy))
    model.save(tmp_path / "m.scedae")
    np.save(tmp_path / "many.npy", np.tile(np.load(npy), (200, 1)))
    command = " ".join(COMMAND)
    done = subprocess.run(
        f"{command} predict m.scedae many.npy --quiet | head -2",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=PLAIN,
    )
    assert done.stdout.startswith("id,label,confidence\n0,")
    assert done.stderr == ""


# --- help -------------------------------------------------------------------------


def test_version(command):
    assert command("--version") == (0, f"scedae {scedae.__version__}\n", "")


def test_no_arguments_show_the_help(command):
    _, out, err = command()
    assert "fit" in out + err
    assert "datasets" in out + err


@pytest.mark.parametrize("name", [None, "fit", "predict", "report", "datasets"])
def test_help_reads_like_a_manual(command, name):
    arguments = [] if name is None else [name]
    code, out, err = command(*arguments, "--help")
    assert (code, err) == (0, "")
    assert "Example" in out
    assert f"scedae {name or 'fit'}" in out


def test_every_option_is_explained():
    from typer.main import get_command

    from scedae.cli.app import app

    for name, command in get_command(app).commands.items():
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name}: {parameter.name}"
