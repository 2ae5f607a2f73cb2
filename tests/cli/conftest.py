"""Small files as users have them, and the command in this process."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from scedae.cli.app import app

# A fit of a fraction of a second.
QUICK = ["--epochs", "5", "--members", "2", "--seed", "0", "--no-report", "--quiet"]


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs ``scedae …`` in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def run(*arguments):
        result = runner.invoke(app, [str(a) for a in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def fit(command):
    """``scedae fit … -k 3 -o run`` with quick settings."""

    def run(data, *arguments, out="run"):
        return command("fit", data, "-k", 3, "-o", out, *QUICK, *arguments)

    return run


@pytest.fixture
def refused(tmp_path):
    """One line on standard error, exit code 2, and nothing left behind."""

    def check(result, *words, left=()):
        code, out, err = result
        assert code == 2
        assert out == ""
        assert err.startswith("scedae: error: ")
        assert err.count("\n") == 1
        for word in words:
            assert word in err
        assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == set(left)
        assert not list(tmp_path.glob(".*"))

    return check


@pytest.fixture
def frame(blobs):
    """The three clouds with ids, classes and a text column."""
    X, y = blobs
    return pl.DataFrame(
        {
            "name": [f"row-{i}" for i in range(len(X))],
            **{f"x{j}": X[:, j] for j in range(X.shape[1])},
            "group": [("ä", "b", "c")[c] for c in y],
        }
    )


@pytest.fixture
def csv(frame, tmp_path):
    path = tmp_path / "cells.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def npy(blobs, tmp_path):
    path = tmp_path / "cells.npy"
    np.save(path, blobs[0])
    return path
