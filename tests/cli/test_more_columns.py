"""``--proba``, ``--layers``, ``--novelty`` and ``--reject``: more of each row."""

import json

import numpy as np
import polars as pl
import pytest

from scedae import SCEDAE


@pytest.fixture
def fitted(fit, csv):
    """A run whose labels have chances and layers beside them."""
    options = ["--id-column", "name", "--drop", "group", "--proba", "--layers", "2,5"]
    code, _, err = fit(csv, *options)
    assert (code, err) == (0, "")
    return SCEDAE.load("run/model.scedae"), pl.read_csv("run/labels.csv")


def predict(command, *options):
    code, out, err = command("predict", "run", "cells.csv", "--quiet", *options)
    assert (code, err) == (0, "")
    return out


def test_columns_of_fit_and_predict_agree(fitted, command, frame):
    model, labels = fitted
    chances = [f"probability_{i}" for i in range(3)]
    assert labels.columns == [
        *("id", "label", "confidence", *chances, "layer_2", "layer_5")
    ]
    found = labels.select(chances).to_numpy()
    np.testing.assert_allclose(found, model.probabilities_, atol=1e-6)
    for n_clusters in (2, 5):
        assert (labels[f"layer_{n_clusters}"] == model.labels_at(n_clusters)).all()

    predict(command, "--proba", "--layers", "2,5", "-o", "new.csv")
    assert pl.read_csv("new.csv").equals(labels)
    predict(command, "--proba", "--novelty", "--keep-columns", "-o", "new.parquet")
    wide = pl.read_parquet("new.parquet")
    assert wide.columns[3:7] == [*chances, "novelty"]
    assert wide.columns[7:] == [name for name in frame.columns if name != "name"]
    rows = frame.drop("name", "group")
    np.testing.assert_allclose(wide["novelty"], model.novelty_score(rows), atol=1e-5)


def test_rejected_rows_have_no_label(fitted, command, frame):
    model, labels = fitted
    groups = frame.partition_by("group", maintain_order=True)
    numbers = [group.drop("name", "group").head(10).to_numpy() for group in groups]
    between = pl.DataFrame((numbers[0] + numbers[1]) / 2, frame.columns[1:-1])
    both = pl.concat([between, frame.drop("name", "group")])
    both.write_csv("cells.csv")
    summary = predict(command, "--reject", "0.1", "-o", "new.csv", "--json")
    found = pl.read_csv("new.csv")["label"].to_numpy()
    assert (found == model.predict(both, reject=0.1)).all()
    assert (found[:10] == -1).any()
    assert json.loads(summary)["clusters"]["-1"] == (found == -1).sum()
    kept = found[10:] != -1
    assert (found[10:][kept] == labels["label"].to_numpy()[kept]).all()


def test_wrong_numbers_and_names_that_are_taken(fitted, command, frame):
    for options, word in (
        (["--layers", "2,many"], "as 4,20"),
        (["--layers", "0"], "as 4,20"),
        (["--layers", "99"], "no layer of 99"),
        (["--reject", "0.6"], "equal to"),
        (["--reject", "-1"], "equal to"),
    ):
        code, _, err = command("predict", "run", "cells.csv", "--quiet", *options)
        assert code == 2
        assert word in err
    frame.rename({"group": "novelty"}).write_csv("cells.csv")
    predict(command, "--novelty", "--keep-columns", "-o", "new.csv")
    found = pl.read_csv("new.csv")
    assert found["novelty"].dtype == pl.Float64
    assert found["novelty_input"].to_list() == frame["group"].to_list()


def test_a_fit_is_not_lost_for_a_layer(fit, csv):
    code, _, err = fit(csv, "--ignore", "name,group", "--layers", "2,99")
    assert code == 0
    assert "no column layer_99" in err
    assert "layer_2" in pl.read_csv("run/labels.csv").columns
