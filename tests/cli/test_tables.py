"""``scedae fit`` on tables as people have them: right at the first attempt."""

import gzip
import io
import json
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from scedae import SCEDAE
from tests.cli.conftest import QUICK


@pytest.fixture
def customers(rng):
    """Three groups, told apart by numbers and categories; every kind of column."""
    n = 150
    group = np.arange(n) % 3
    income = np.exp(rng.normal(9 + group, 0.3)).round(2)
    return pl.DataFrame(
        {
            "customer_id": [f"C{i:04d}" for i in range(n)],
            "age": rng.normal(30 + 15 * group, 3).round(),
            "income": [("NA", str(v))[i % 10 != 0] for i, v in enumerate(income)],
            "plan": np.array(["free", "pro", "team"])[group],
            "active": rng.choice(["yes", "no"], n),
            "since": [f"20{10 + i % 9}-0{1 + i % 9}-1{i % 9}" for i in range(n)],
            "score": ["-999" if i % 15 == 0 else f"{i % 7}" for i in range(n)],
        }
    )


def quick(command, data, *more, out="run"):
    options = [option for option in QUICK if option != "--quiet"]
    return command("fit", data, "-k", 3, "-o", out, *options, *more)


def labels_of(folder):
    return pl.read_csv(f"{folder}/labels.csv")


def test_the_first_attempt_works_and_says_what_it_did(command, customers):
    customers.write_csv("customers.csv")
    code, out, err = quick(command, "customers.csv", "--na-values", "-999")
    assert code == 0
    assert "150 rows of 8 columns in 3 clusters" in out
    told = err.splitlines()[:5]
    assert told == [
        "customers.csv: 150 rows, 6 of 7 columns used, as 8 features",
        "  numbers     age, income (15 gaps), score (10 gaps)",
        "  dates       since",
        "  categories  plan (3), active (2)",
        "  left out    customer_id (id)",
    ]
    assert labels_of("run")["id"].to_list() == customers["customer_id"].to_list()
    with open("run/run.json") as file:
        run = json.load(file)
    kinds = {each["column"]: (each["kind"], each["gaps"]) for each in run["table"]}
    assert kinds["income"] == ("number", 15)
    assert kinds["customer_id"] == ("id", 0)
    assert run["data"]["id_column"] == "customer_id"
    assert run["data"]["reading"]["na_values"] == ["-999"]


def test_predict_does_the_same_again(command, customers):
    customers.write_csv("customers.csv")
    assert quick(command, "customers.csv")[0] == 0
    fitted = labels_of("run")
    # Another order of columns, another format, one more column, and new categories.
    other = customers.select(reversed(customers.columns)).with_columns(x=pl.lit(1))
    other.write_parquet("new.parquet")
    code, out, err = command("predict", "run", "new.parquet", "--quiet")
    assert (code, err) == (0, "")
    assert pl.read_csv(io.BytesIO(out.encode())).equals(fitted)
    strange = other.head(9).with_columns(plan=pl.lit("platinum"), active=None)
    strange.write_csv("strange.csv")
    code, out, err = command("predict", "run", "strange.csv", "--quiet")
    assert code == 0
    assert err == (
        "scedae: column 'plan': 9 cells are unlike all that the fit saw; they count as "
        "gaps.\n"
    )


def test_all_ways_to_write_a_table_give_the_same_labels(command, customers):
    text = customers.write_csv()
    german = customers.with_columns(
        pl.col("age").cast(pl.String).str.replace(".", ",", literal=True),
        pl.col("income").str.replace(".", ",", literal=True),
    ).write_csv(separator=";")
    headless = "\n".join(text.splitlines()[1:]) + "\n"
    files = {
        "plain.csv": text.encode(),
        "marked.csv": text.encode("utf-8-sig"),
        "wide.csv": text.encode("utf-16"),
        "german.csv": german.encode(),
        "tabs.tsv": customers.write_csv(separator="\t").encode(),
        "pipes.txt": customers.write_csv(separator="|").encode(),
        "packed.csv.gz": gzip.compress(text.encode()),
        "headless.csv": headless.encode(),
    }
    for name, content in files.items():
        with open(name, "wb") as file:
            file.write(content)
    with pa.output_stream("packed.csv.zst", compression="zstd") as file:
        file.write(text.encode())
    customers.write_ipc("table.feather")
    customers.write_parquet("table.parquet")
    answers = {}
    for name in (*files, "packed.csv.zst", "table.feather", "table.parquet"):
        assert quick(command, name, "--quiet", out=f"run-{name}")[0] == 0
        answers[name] = labels_of(f"run-{name}").drop("confidence")
    different = [k for k, v in answers.items() if not v.equals(answers["plain.csv"])]
    assert not different


def test_standard_input_is_a_table(command, customers, monkeypatch):
    pipe = io.TextIOWrapper(io.BytesIO(customers.write_csv().encode()))
    monkeypatch.setattr(sys, "stdin", pipe)
    from scedae.cli.sources import Source

    source = Source("-")
    assert source.is_frame
    assert source.path.read_bytes() == customers.write_csv().encode()
    assert source.location == "-"


def test_options_overrule_the_rule(command, customers):
    customers.write_csv("a.csv")
    code, _, err = quick(
        command,
        "a.csv",
        *("--categorical", "score", "--ignore", "since", "--describe", "active"),
        *("--impute", "flag", "--id-column", "customer_id"),
    )
    assert code == 0
    assert "categories  plan (3), score (8)" in err
    assert "dates" not in err
    names = list(SCEDAE.load("run/model.scedae").feature_names_in_)
    assert "income=(gap)" in names
    assert not any(name.startswith("active") for name in names)


def test_the_page_of_a_table_can_be_made_again(command, customers):
    customers.write_csv("a.csv")
    options = [o for o in QUICK if o not in ("--no-report", "--quiet")]
    assert command("fit", "a.csv", "-k", 3, "-o", "run", *options)[0] == 0
    with open("run/report.html", encoding="utf-8") as file:
        first = file.read()
    assert command("report", "run")[0] == 0
    with open("run/report.html", encoding="utf-8") as file:
        assert len(file.read()) > 0.9 * len(first)


def test_numbers_alone_are_clustered_as_an_array(command, blobs):
    X, _ = blobs
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(6)])
    frame.write_csv("a.csv")
    np.save("a.npy", X)
    for name in ("a.csv", "a.npy"):
        assert quick(command, name, "--quiet", out=name[2:])[0] == 0
    assert labels_of("csv").equals(labels_of("npy"))
