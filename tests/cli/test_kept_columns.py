"""``scedae predict --keep-columns``: the table again, with its clusters."""

import numpy as np
import polars as pl
import pytest

from scedae.cli.kept_columns import Labelled, beside_labels, write_csv


@pytest.fixture
def fitted(fit, csv):
    assert fit(csv, "--id-column", "name", "--drop", "group")[0] == 0


@pytest.fixture
def labels(fitted):
    return pl.read_csv("run/labels.csv")


def predict(command, data, *options):
    code, out, err = command("predict", "run", data, "--keep-columns", "-q", *options)
    assert (code, err) == (0, "")
    return out


def check(found, labels, frame):
    assert found.columns == [
        *("id", "label", "confidence"),
        *(name for name in frame.columns if name != "name"),
    ]
    assert found["id"].to_list() == frame["name"].to_list()
    assert found["label"].to_list() == labels["label"].to_list()
    for name in found.columns[3:]:
        assert found[name].to_list() == frame[name].to_list()


@pytest.mark.parametrize("height", [7, 1000])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("written", ["csv", "parquet"])
def test_columns_come_back(
    command, labels, frame, monkeypatch, suffix, written, height
):
    monkeypatch.setattr("scedae.cli.parts._PART_NUMBERS", 6 * height)
    frame.write_csv("new.csv")
    frame.write_parquet("new.parquet")
    predict(command, f"new.{suffix}", "-o", f"out.{written}")
    if written == "csv":
        found = pl.read_csv("out.csv", schema_overrides={"group": frame["group"].dtype})
    else:
        found = pl.read_parquet("out.parquet")
        if suffix == "csv":  # cells of a text file are text
            kinds = {
                name: frame[name].dtype for name in frame.columns if name != "name"
            }
            found = found.cast(kinds)
    check(found, labels, frame)


def test_standard_output_and_replacing(command, refused, fitted, frame):
    frame.write_csv("new.csv")
    text = predict(command, "new.csv")
    assert text.splitlines()[0].startswith("id,label,confidence,")
    for name in ("out.csv", "out.parquet"):
        predict(command, "new.csv", "-o", name)
        predict(command, "new.csv", "-o", name, "--force")
    frame.write_parquet("own.parquet")
    result = command("predict", "run", "new.csv", "-o", "own.parquet", "--force")
    refused(result, "not a file of labels", left=["run"])


def test_parquet_without_columns(command, labels, frame):
    frame.write_parquet("new.parquet")
    assert command("predict", "run", "new.parquet", "-o", "out.parquet", "-q")[0] == 0
    found = pl.read_parquet("out.parquet")
    assert found.columns == ["id", "label", "confidence"]
    assert found["label"].to_list() == labels["label"].to_list()


def test_arrays_keep_their_numbers(fit, command, npy, blobs):
    assert fit(npy)[0] == 0
    predict(command, npy, "-o", "out.parquet")
    found = pl.read_parquet("out.parquet")
    assert found.columns[3:] == [str(i) for i in range(blobs[0].shape[1])]
    np.testing.assert_array_equal(found[:, 3:].to_numpy(), blobs[0])


def test_a_table_without_the_ids_of_the_fit(fit, command, frame):
    frame.write_csv("old.csv")
    assert fit("old.csv", "--drop", "group", "--id-column", "name")[0] == 0
    frame.drop("name").write_csv("new.csv")
    code, out, _ = command("predict", "run", "new.csv", "-q")
    assert code == 0
    assert out.splitlines()[1].startswith("0,") and len(out.splitlines()) == 241


def test_names_that_are_taken():
    assert beside_labels(["label", "a", "label_input", "id"]) == [
        *("label_input_input", "a", "label_input", "id_input"),
    ]


def test_cells_are_quoted_and_no_formulas(tmp_path):
    kept = pl.DataFrame(
        {
            "a,b": ["=1+1", "-5", "-x", None],
            "t": ['say "hi"', "two\r\nlines", "1,5", "plain"],
            "n": [1.5, None, 3.0, -4.0],
        }
    )
    part = Labelled(np.arange(4), np.zeros(4, int), np.ones(4), kept)
    with (tmp_path / "out.csv").open("w", newline="") as file:
        write_csv(file, [part], verbatim=False)
    found = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert found.columns == ["id", "label", "confidence", "a,b", "t", "n"]
    assert found["a,b"].to_list() == ["'=1+1", "-5", "'-x", None]
    assert found["t"].to_list() == kept["t"].to_list()
    assert found["n"].to_list() == ["1.5", None, "3.0", "-4.0"]


def test_lists_need_parquet(command, refused, fitted, frame):
    frame.with_columns(more=pl.lit([1, 2])).write_parquet("new.parquet")
    result = command("predict", "run", "new.parquet", "--keep-columns", "-o", "o.csv")
    refused(result, "'more' holds", ".parquet", left=["run"])
    predict(command, "new.parquet", "-o", "o.parquet")
    assert pl.read_parquet("o.parquet")["more"][0].to_list() == [1, 2]
