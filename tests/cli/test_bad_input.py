"""Hostile input: one line that says what is wrong and where, and exit code 2."""

import os

import numpy as np
import polars as pl
import pytest

FILES = {
    "empty": ("a.csv", "", ["a.csv is empty"]),
    "header only": ("a.csv", "a,b\n", ["a.csv has column names, but no rows"]),
    "one row": ("a.csv", "a,b\n1,2\n", ["a.csv", "n_samples=1", "n_clusters=3"]),
    "semicolons": ("a.csv", "a;b\n1;2\n3;4\n", ["a.csv", "separate", "';'"]),
    "tabs in a csv": ("a.csv", "a\tb\n1\t2\n", ["a.csv", "separate", "tabs"]),
    "commas in a tsv": ("a.tsv", "a,b\n1,2\n", ["a.tsv", "separate", "commas"]),
    "a missing value": (
        "a.csv",
        "a,b\n1,2\n3,\n5,6\n",
        ["a.csv: row 1 (line 3), column 'b' has no number"],
    ),
    "not a number": (
        "a.csv",
        "a,b\n1,2\n3,4\nNaN,6\n",
        ["a.csv: row 2 (line 4), column 'a' has nan"],
    ),
    "infinity": (
        "a.csv",
        "a,b\n1,2\n3,inf\n5,6\n",
        ["a.csv: row 1 (line 3), column 'b' has inf"],
    ),
    "a short line": ("a.csv", "a,b\n1,2\n3\n", ["row 1 (line 3), column 'b'"]),
    "a long line": ("a.csv", "a,b\n1,2\n3,4,5\n", ["a.csv", "more fields"]),
    "text": (
        "a.csv",
        "größe,b,c d\n1,x,u\n2,y,v\n",
        ["not numbers: 'b' ('x' in row 0), 'c d' ('u' in row 0)", "--drop 'b,c d'"],
    ),
    "one word among numbers": (
        "a.csv",
        "a,b\n1,2\n2,3\n3,NA\n",
        ["'b' ('NA' in row 2)", "--drop b"],
    ),
    "no text at all": ("a.csv", b"\xff\xfe\x00\x01,\xd8\n1,2\n", ["a.csv"]),
    "unknown kind": ("a.xlsx", "PK", ["a.xlsx", ".csv, .tsv, .parquet"]),
    "no parquet": ("a.parquet", "hello", ["a.parquet cannot be read"]),
    "no npy": ("a.npy", "hello", ["a.npy cannot be read"]),
    "no npz": ("a.npz", "hello", ["a.npz cannot be read"]),
}


@pytest.mark.parametrize("kind", FILES)
def test_files(kind, fit, refused):
    name, content, words = FILES[kind]
    content = content.encode() if isinstance(content, str) else content
    with open(name, "wb") as file:
        file.write(content)
    refused(fit(name), *words)


ARRAYS = {
    "a vector": (np.zeros(5), "shape (5,)"),
    "a cube": (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
    "no rows": (np.zeros((0, 3)), "no rows"),
    "text": (np.array([["a", "b"]]), "matrix of numbers"),
    "complex": (np.zeros((3, 2), complex), "matrix of numbers"),
    "objects": (np.array([[{}, 1]]), "cannot be read"),
    "not finite": (np.array([[1.0, 2], [3, np.nan], [5, 6]]), "row 1, column 1 has na"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays(kind, fit, refused):
    array, words = ARRAYS[kind]
    np.save("a.npy", array, allow_pickle=True)
    refused(fit("a.npy"), "a.npy", words)


def test_archives(fit, refused, blobs):
    np.savez("two.npz", A=blobs[0], B=blobs[0], c=blobs[1])
    refused(fit("two.npz"), "two.npz must hold one matrix", "A, B, c")
    np.savez("short.npz", X=blobs[0], y=blobs[1][:9])
    refused(fit("short.npz", "--labels", "y"), "shape (9,); 240 labels are needed")
    refused(fit("short.npz", "--labels", "z"), "no column 'z'; it has 'X', 'y'")
    np.savez("none.npz")
    refused(fit("none.npz"), "it holds nothing")


def test_places_that_are_no_files(fit, refused, tmp_path):
    refused(fit("nowhere.csv"), "no file nowhere.csv", "no data set", "digits")
    (tmp_path / "folder.csv").mkdir()
    refused(fit("folder.csv"), "folder.csv is a folder", left=["folder.csv"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(fit, refused, csv, tmp_path):
    csv.chmod(0)
    refused(fit(csv), "ermission denied")
    (tmp_path / "closed").mkdir(mode=0o500)
    refused(fit("digits", out="closed/run"), "ermission denied", left=["closed"])


def test_columns_that_are_not_there(fit, refused, csv, npy):
    refused(fit(csv, "--columns", "x0,x9"), "no column 'x9'", "'name', 'x0'")
    refused(fit(csv, "--drop", "nothing"), "no column 'nothing'")
    refused(fit(csv, "--id-column", "no"), "no column 'no'")
    refused(fit(csv, "--labels", "no"), "no column 'no'")
    refused(fit(npy, "--columns", "0,6"), "no column '6'")
    refused(fit(npy, "--id-column", "6"), "no column '6'")
    refused(fit(npy, "--labels", "y"), "has no labels")
    refused(fit("digits", "--labels", "y"), "is 'known', not 'y'")


def test_columns_with_two_roles(fit, refused, csv, frame):
    refused(fit(csv, "--columns", "x0,group", "--labels", "group"), "never clustered")
    everything = ",".join(frame.columns)
    refused(fit(csv, "--drop", everything), "no columns are left")


def test_a_missing_label(fit, refused, frame):
    frame.with_columns(
        group=pl.when(pl.col("name") != "row-7").then(pl.col("group"))
    ).write_csv("a.csv")
    refused(fit("a.csv", "--id-column", "name", "--labels", "group"), "row 7, column")


def test_mixed_columns_of_a_parquet(fit, refused, frame):
    frame.write_parquet("a.parquet")
    refused(fit("a.parquet"), "'name' ('row-0' in row 0), 'group' ('", "--drop name,gr")
    dates = frame.select("x0", day=pl.date(2020, 1, 1))
    dates.write_parquet("b.parquet")
    refused(fit("b.parquet"), "'day' (Date)", "--drop day")
    holes = frame.select("x0", x1=pl.when(pl.col("x0") > 0).then(1))
    holes.write_parquet("c.parquet")
    result = fit("c.parquet")
    refused(result, "c.parquet: row ", ", column 'x1' has no number")
    assert "line" not in result[2]


def test_truth_values_and_decimals_are_numbers(fit):
    generator = np.random.default_rng(0)
    pl.DataFrame(
        {
            "yes": generator.random(60) > 0.5,
            "price": pl.Series(generator.random(60)).cast(pl.Decimal(10, 3)),
            "size": generator.random(60).astype(np.float32),
        }
    ).write_parquet("a.parquet")
    assert fit("a.parquet")[0] == 0


def test_a_first_line_of_numbers_is_noted(fit, blobs):
    np.savetxt("a.csv", blobs[0], delimiter=",")
    code, _, err = fit("a.csv")
    assert code == 0
    assert "the first line of a.csv was taken for column names" in err
    pl.DataFrame(blobs[0], schema=[str(i) for i in range(6)]).write_csv("b.csv")
    assert fit("b.csv", out="b")[2] == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epochs", "many"], "--epochs 'many' is neither"),
        (["--n-landmarks", "-3"], "--n-landmarks '-3' is neither"),
        (["--epochs", "0"], "'epochs' parameter"),
        (["--device", "tpu"], "device='tpu' is not a device"),
        (["--members", "0"], "'n_members' parameter"),
        (["-k", "500"], "n_clusters=500"),
    ],
)
def test_parameters_out_of_range(fit, npy, refused, options, words):
    refused(fit(npy, *options), words)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "digits", "-o", "run"],
        ["fit", "digits", "-k", "0", "-o", "run"],
        ["fit", "digits", "-k", "ten", "-o", "run"],
        ["fit", "digits", "-k", "-3", "-o", "run"],
        ["fit", "digits", "-k", "3", "-o", "run", "--effort", "huge"],
        ["fit", "digits", "-k", "3", "-o", "run", "--scale", "huge"],
        ["fit", "digits", "-k", "3", "-o", "run", "--ensemble", "mine"],
        ["fit", "digits", "-k", "3", "-o", "run", "--surprise"],
        ["fit", "digits", "-k", "3", "-o", "run", "--preset", "mine"],
        ["cluster"],
    ],
)
def test_wrong_usage(command, arguments):
    code, out, err = command(*arguments)
    assert code == 2
    assert out == ""
    assert "Usage: " in err
    assert "Traceback" not in err
