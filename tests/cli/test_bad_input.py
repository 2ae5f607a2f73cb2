"""Hostile input: one line that says what is wrong and where, and exit code 2."""

import os

import numpy as np
import polars as pl
import pytest

FILES = {
    "empty": ("a.csv", "", ["a.csv is empty"]),
    "header only": ("a.csv", "a,b\n", ["a.csv: it has column names, but no rows"]),
    "one row": ("a.csv", "a,b\n1,2\n", ["a.csv: no column is left", "constant"]),
    "two rows": ("a.csv", "a,b\n1,2\n2,3\n", ["n_samples=2", "n_clusters=3"]),
    "infinity": (
        "a.csv",
        "a,b\n1,2\n3,inf\n5,6\n",
        ["a.csv: column 'b' has 1 infinite values", "--na-values inf"],
    ),
    "a long line": ("a.csv", "a,b\n1,2\n3,4,5\n", ["a.csv", "more fields"]),
    "ids and nothing else": (
        "a.csv",
        "größe,c d\nx,u1\ny,v2\n",
        ["no column is left to cluster: 'größe' (id), 'c d' (id)"],
    ),
    "no text at all": ("a.csv", b"\x00\x01\x02,\xd8\n1,2\n", ["a.csv", "binary"]),
    "unknown kind": ("a.pdf", "PK", ["a.pdf", ".csv, .tsv, .txt, .parquet"]),
    "no parquet": ("a.parquet", "hello", ["a.parquet: it cannot be read"]),
    "no spreadsheet": ("a.xlsx", "hello", ["a.xlsx: it cannot be read"]),
    "no gzip": ("a.csv.gz", "hello", ["a.csv.gz: it cannot be unpacked"]),
    "no arrow": ("a.feather", "hello", ["a.feather: it cannot be read"]),
    "no npy": ("a.npy", "hello", ["a.npy: it cannot be read"]),
    "no npz": ("a.npz", "hello", ["a.npz: it cannot be read"]),
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
    "no rows": (np.zeros((0, 3)), "nothing in it"),
    "text": (np.array([["a", "b"]]), "not numbers"),
    "complex": (np.zeros((3, 2), complex), "not numbers"),
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


@pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything"
)
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


def test_options_about_columns_that_contradict_each_other(fit, refused, csv):
    refused(fit(csv, "--ignore", "x0", "--numeric", "x0"), "'x0' is left out")
    refused(fit(csv, "--numeric", "group"), "column 'group' holds no numbers", "'")
    refused(fit(csv, "--numeric", "x0", "--categorical", "x0"), "named twice")
    refused(fit(csv, "--sep", "::"), "--sep '::' is not one character")
    refused(fit(csv, "--columns", "x0,group", "--describe", "group"), "never clustered")


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
