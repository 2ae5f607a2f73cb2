"""``scedae predict``: the labels of the fit, in batches, by names."""

import errno
import json

import numpy as np
import polars as pl
import pytest

from scedae import LandmarkSpectralClustering
from scedae.cli import parts


@pytest.fixture
def run(fit, csv):
    """A run on the table of the three clouds."""
    assert fit(csv, "--id-column", "name", "--drop", "group")[0] == 0
    with open("run/labels.csv") as file:
        return file.read()


def predict(command, data, *options):
    code, out, err = command("predict", "run/model.scedae", data, "--quiet", *options)
    assert (code, err) == (0, "")
    return out


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_the_rows_of_the_fit_get_what_they_got(run, command, frame, suffix):
    # Columns in another order, and one more: they are found by their names.
    other = frame.select(reversed(frame.columns)).with_columns(more=pl.lit("text"))
    {
        "csv": lambda: other.write_csv("new.csv"),
        "tsv": lambda: other.write_csv("new.tsv", separator="\t"),
        "parquet": lambda: other.write_parquet("new.parquet"),
    }[suffix]()
    assert predict(command, f"new.{suffix}", "--id-column", "name") == run


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy", "npz"])
@pytest.mark.parametrize("height", [1, 7, 100])
def test_batches_of_any_size_give_the_same(
    run, command, frame, blobs, monkeypatch, suffix, height
):
    if height == 1:  # an hour of small steps is not the point
        frame, blobs = frame.head(20), (blobs[0][:20], blobs[1])
    frame.write_csv("new.csv")
    frame.write_parquet("new.parquet", row_group_size=50)
    np.save("new.npy", blobs[0])
    np.savez("new.npz", blobs[0])
    sizes = []
    original = parts.read_parts

    def counted(*arguments):
        for batch in original(*arguments):
            sizes.append(len(batch.ids))
            yield batch

    monkeypatch.setattr("scedae.cli.parts._PART_NUMBERS", 6 * height)
    monkeypatch.setattr("scedae.cli.predicting.read_parts", counted)
    out = predict(command, f"new.{suffix}")
    found = [line.split(",")[1:] for line in out.splitlines()]
    expected = [line.split(",")[1:] for line in run.splitlines()][: len(found)]
    assert found == expected
    assert sum(sizes) == len(frame)
    assert max(sizes) <= height
    name = "row-{}" if suffix in ("csv", "parquet") else "{}"
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == [
        name.format(i) for i in range(len(frame))
    ]


def test_a_file_and_a_summary(run, command, csv, tmp_path):
    code, out, err = command(
        *("predict", "run", csv, "-o", "new.csv", "--id-column", "name", "--json")
    )
    assert code == 0
    summary = json.loads(out)
    assert summary["n_rows"] == 240 == sum(summary["clusters"].values())
    assert err.startswith("scedae: 240 rows in")
    assert (tmp_path / "new.csv").read_text() == run
    assert not list(tmp_path.glob(".*"))


def test_a_single_row(run, command, frame):
    frame.head(1).write_csv("new.csv")
    assert (
        predict(command, "new.csv", "--id-column", "name").splitlines()
        == (run.splitlines()[:2])
    )


def test_a_model_without_names_takes_columns_by_their_place(
    fit, npy, command, frame, tmp_path
):
    assert fit(npy)[0] == 0
    frame.drop("group").write_csv("new.csv")
    out = predict(command, "new.csv", "--id-column", "name")
    labels = pl.read_csv("run/labels.csv")
    assert pl.read_csv(out.encode())["label"].to_list() == labels["label"].to_list()


# --- refused ----------------------------------------------------------------------


def predicted(command, data, *options):
    return command("predict", "run", data, "-o", "new.csv", *options)


def test_new_rows_with_faults(run, command, refused, frame, tmp_path):
    frame.drop("x3").write_csv("a.csv")
    refused(predicted(command, "a.csv"), "a.csv has no column 'x3'", left=["run"])
    np.save("d.npy", np.zeros((3, 5)))
    refused(predicted(command, "d.npy"), "has 5 columns", "fitted on 6", left=["run"])
    frame.head(0).write_csv("e.csv")
    refused(predicted(command, "e.csv"), "no rows", left=["run"])
    X = np.zeros((50, 6))
    X[41, 2] = np.inf
    np.save("g.npy", X)
    refused(predicted(command, "g.npy"), "row 41, column 2 has inf", left=["run"])
    assert not (tmp_path / "new.csv").exists()


def test_gaps_in_new_rows_are_filled_as_in_the_fit(run, command, frame):
    median = frame["x3"].median()
    gaps = frame.with_columns(
        x3=pl.when(pl.int_range(pl.len()) % 9 == 0)
        .then(pl.lit("NA"))
        .otherwise(pl.col("x3").cast(pl.String))
    )
    gaps.write_csv("gaps.csv")
    filled = frame.with_columns(
        x3=pl.when(pl.int_range(pl.len()) % 9 == 0).then(median).otherwise("x3")
    )
    filled.write_csv("filled.csv")
    assert predict(command, "gaps.csv") == predict(command, "filled.csv")


def test_a_model_of_an_array_refuses_gaps_and_names_them(
    fit, npy, command, refused, frame, monkeypatch
):
    monkeypatch.setattr("scedae.cli.parts._PART_NUMBERS", 60)
    assert fit(npy)[0] == 0
    numbers = frame.select(pl.col("^x.$"))
    numbers.with_columns(
        x3=pl.when(pl.int_range(pl.len()) != 205).then("x3")
    ).write_csv("a.csv")
    result = predicted(command, "a.csv", "--quiet")
    refused(result, "column 'x3' has 1 cells", "row 205", "fill", left=["run"])


def test_a_model_that_is_none(run, command, refused, csv, blobs):
    refused(command("predict", "nowhere", csv), "no model file", left=["run"])
    refused(command("predict", csv, csv), "not a scedae model", left=["run"])
    LandmarkSpectralClustering(3).fit(blobs[0]).save("lsc.scedae")
    result = command("predict", "lsc.scedae", csv)
    refused(result, "LandmarkSpectralClustering", "not a SCEDAE", left=["run"])


def test_the_output_is_safe(run, command, refused, csv, tmp_path, monkeypatch):
    (tmp_path / "new.csv").write_text("id,label,confidence\n")
    refused(predicted(command, csv), "new.csv exists", "--force", left=["run"])
    refused(command("predict", "run", csv, "-o", "run"), "is a folder", left=["run"])
    refused(command("predict", "run", csv, "--json"), "needs --out", left=["run"])

    def disk_full(file, parts, **how):
        file.write("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("scedae.cli.predicting.write_csv", disk_full)
        result = predicted(command, csv, "--force")
    refused(result, "No space left on device", left=["run"])
    assert (tmp_path / "new.csv").read_text() == "id,label,confidence\n"
    assert predicted(command, csv, "--force", "--quiet")[0] == 0
    assert (tmp_path / "new.csv").read_text().startswith("id,label,confidence\nrow-0,")
