"""``scedae fit a.npy b.csv``: several files are views of the same rows."""

import json

import numpy as np
import polars as pl
import pytest

from scedae import SCEDAE
from tests.cli.conftest import QUICK


@pytest.fixture
def files(blobs, tmp_path):
    """The three clouds, and their squares in a table with names of rows."""
    X, _ = blobs
    np.save(tmp_path / "plain.npy", X)
    columns = {f"c{i}": column for i, column in enumerate((X**2).T)}
    names = [f"row {i}" for i in range(len(X))]
    pl.DataFrame({"name": names, **columns}).write_csv(tmp_path / "table.csv")
    return X


def fit(command, *data):
    return command("fit", *data, "-k", 3, "-o", "run", *QUICK)


def test_fit_and_predict(command, files, tmp_path):
    assert (
        fit(command, "plain.npy", "squares=table.csv", "--encoded", "squares")[0] == 0
    )
    model = SCEDAE.load("run/model.scedae")
    assert [*model.views_] == ["plain", "squares"]
    assert [view.trained for view in model.views_.values()] == [True, False]
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert [view["name"] for view in run["views"]] == ["plain", "squares"]
    wanted = (tmp_path / "run" / "labels.csv").read_text()
    for data in (
        ("plain.npy", "table.csv"),
        ("plain=plain.npy", "squares=table.csv"),
    ):
        code, out, _ = command("predict", "run", *data, "--quiet")
        assert (code, out) == (0, wanted)
    code, out, _ = command("predict", "run", "squares=table.csv", "--quiet")
    assert code == 0
    assert out.splitlines()[1].startswith("row 0,")
    labels = [int(line.split(",")[1]) for line in out.splitlines()[1:]]
    np.testing.assert_array_equal(labels, model.predict([None, model_rows(files)]))


def model_rows(X):
    return pl.DataFrame({f"c{i}": column for i, column in enumerate((X**2).T)})


def test_the_page_is_made_again(command, files, tmp_path):
    assert fit(command, "plain.npy", "table.csv")[0] == 0
    assert command("report", "run")[0] == 0
    assert "table: 6 columns" in (tmp_path / "run" / "report.html").read_text()
    np.save(tmp_path / "plain.npy", files + 1)
    code, _, err = command("report", "run")
    assert code == 2
    assert "plain.npy is not the data of this run" in err


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (("plain.npy", "plain.npy"), "two DATA are called 'plain'"),
        (("plain.npy", "short.npy"), "views must be of the same rows"),
        (("plain.npy", "-"), "standard input can be one DATA"),
        (("plain.npy", "no.npy"), "there is no file no.npy"),
    ],
)
def test_mistakes_are_told(command, files, refused, data, words):
    np.save("short.npy", files[:-1])
    refused(fit(command, *data), words)


def test_views_that_the_model_does_not_know(command, files):
    assert fit(command, "plain.npy", "table.csv")[0] == 0
    code, _, err = command("predict", "run", "other=plain.npy")
    assert (code, "no view 'other', but 'plain', 'table'" in err) == (2, True)
    code, _, err = command("predict", "run", "plain.npy", "--keep-columns")
    assert (code, "--keep-columns is for one DATA" in err) == (2, True)
