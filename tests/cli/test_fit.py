"""``scedae fit``: what it writes, and what it says."""

import errno
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import scedae
from scedae import SCEDAE, datasets
from tests.cli.conftest import QUICK

COLUMNS = ["--id-column", "name", "--labels", "group"]


def test_everything_is_in_the_folder(fit, csv, blobs, tmp_path):
    code, out, err = fit(csv, *COLUMNS)
    assert (code, err) == (0, "")
    assert "240 rows of 6 columns in 3 clusters" in out
    assert "ACC 100.0, NMI 100.0, ARI 100.0 against the labels" in out
    assert "written to run: labels.csv, model.scedae, run.json" in out
    assert {p.name for p in tmp_path.iterdir()} == {"cells.csv", "run"}

    model = SCEDAE.load("run/model.scedae")
    labels = pl.read_csv("run/labels.csv")
    assert labels.columns == ["id", "label", "confidence"]
    assert labels["id"].to_list() == [f"row-{i}" for i in range(240)]
    assert labels["label"].to_list() == model.labels_.tolist()
    np.testing.assert_allclose(labels["confidence"], model.confidence_, atol=1e-6)
    assert list(model.feature_names_in_) == [f"x{j}" for j in range(6)]

    # The same as in Python.
    parameters = {"epochs": 5, "n_members": 2, "random_state": 0}
    same = SCEDAE(3, **parameters).fit(blobs[0])
    assert (same.embedding_ == model.embedding_).all()


def test_the_record_repeats_the_run(fit, csv):
    fit(csv, *COLUMNS, "--scale", "standard")
    with open("run/run.json") as file:
        run = json.load(file)
    assert run["data"]["path"] == str(csv)
    assert len(run["data"]["sha256"]) == 64
    assert (run["data"]["n_rows"], run["data"]["n_columns"]) == (240, 6)
    assert run["data"]["columns"] == [f"x{j}" for j in range(6)]
    assert run["versions"]["scedae"] == scedae.__version__
    computing = {"torch", "numpy", "scipy", "scikit-learn"}
    assert set(run["versions"]) == {"python", "scedae", *computing}
    assert run["device"].split(":")[0] in ("cpu", "cuda")
    assert run["scores"]["acc"] == 1
    stages = ["read", "prepare", "encode", "anchor", "fuse", "embed", "assign", "write"]
    assert list(run["seconds"]) == [*stages, "total"]
    assert sum(c["rows"] for c in run["clusters"]) == 240
    assert run["warnings"] == []
    again = SCEDAE(**run["parameters"])
    again.fit(pl.read_csv(csv).select(run["data"]["columns"]))
    model = SCEDAE.load("run/model.scedae")
    assert (again.embedding_ == model.embedding_).all()


def test_json_is_the_record(fit, csv):
    code, out, err = fit(csv, *COLUMNS, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    with open("run/run.json") as file:
        record = json.load(file)
    del record["checksum"]  # of the file, and no part of what it says
    assert json.loads(out) == record


def test_labels_never_enter_the_fit(fit, frame, tmp_path):
    """Even when they are numbers, and even when nothing else tells them apart."""
    numbers = frame.drop("name").with_columns(group=pl.col("group").rank("dense"))
    numbers.write_csv(tmp_path / "a.csv")
    assert fit("a.csv", "--labels", "group")[0] == 0
    assert "group" not in SCEDAE.load("run/model.scedae").feature_names_in_


def test_all_formats_give_the_same_labels(fit, frame, blobs):
    numbers = frame.select(pl.col("^x.$"))
    numbers.write_csv("a.csv")
    numbers.write_csv("a.tsv", separator="\t")
    numbers.write_parquet("a.parquet")
    np.save("a.npy", blobs[0])
    np.savez("a.npz", X=blobs[0], y=blobs[1])
    texts = set()
    for suffix in ("csv", "tsv", "parquet", "npy", "npz"):
        assert fit(f"a.{suffix}", out=suffix)[0] == 0
        with open(f"{suffix}/labels.csv") as file:
            texts.add(file.read())
    assert len(texts) == 1
    assert "ACC 100" in fit("a.npz", "--labels", "y")[1]


@pytest.mark.parametrize("ending", ["csv", "npy"])
def test_columns_are_chosen_and_dropped(fit, csv, npy, ending):
    names = ("x0", "x1", "x5") if ending == "csv" else ("0", "1", "5")
    data = csv if ending == "csv" else npy
    assert fit(data, "--columns", ",".join(names), out="chosen")[0] == 0
    others = ["name", "group"] if ending == "csv" else []
    others += [f"x{j}" if ending == "csv" else str(j) for j in (2, 3, 4)]
    assert fit(data, "--drop", ",".join(others), out="dropped")[0] == 0
    chosen, dropped = (SCEDAE.load(f"{o}/model.scedae") for o in ("chosen", "dropped"))
    assert chosen.n_features_in_ == 3
    assert (chosen.embedding_ == dropped.embedding_).all()


def test_ids_of_an_array_are_one_of_its_columns(fit):
    X = np.random.default_rng(0).standard_normal((60, 4))
    X[:, 2] = np.arange(100, 160)
    np.save("a.npy", X)
    assert fit("a.npy", "--id-column", "2")[0] == 0
    assert pl.read_csv("run/labels.csv")["id"].to_list() == list(range(100, 160))
    assert SCEDAE.load("run/model.scedae").n_features_in_ == 3


def test_a_data_set_by_its_name(command):
    quick = [*QUICK, "--epochs", "2"]
    code, out, _ = command(
        "fit", "digits", "-k", 10, "-o", "run", "--labels", "known", *quick
    )
    assert code == 0
    assert "1,797 rows of 64 columns" in out
    assert "ACC" in out
    assert len(pl.read_csv("run/labels.csv")) == len(datasets.load_digits()[0])


def test_parameters_reach_the_estimator(fit, npy):
    fit(
        npy,
        *("--ensemble", "initialization", "--members", "3", "--batch-size", "64"),
        *("--n-landmarks", "50", "--precision", "float32", "--scale", "minmax"),
        *("--epochs", "3", "--device", "cpu"),
    )
    model = SCEDAE.load("run/model.scedae")
    expected = {
        "ensemble": "initialization",
        "n_members": 3,
        "batch_size": 64,
        "n_landmarks": 50,
        "precision": "float32",
        "scale": "minmax",
        "epochs": 3,
    }
    assert expected.items() <= model.get_params().items()


def test_the_preset_of_the_paper(fit, npy):
    assert fit(npy, "--preset", "paper", "--epochs", "1", "--n-landmarks", "60")[0] == 0
    model = SCEDAE.load("run/model.scedae")
    paper = SCEDAE.paper(3, epochs=1, n_landmarks=60, n_members=2, random_state=0)
    assert model.get_params() == paper.get_params()


def test_progress_and_warnings_go_to_standard_error(command, npy):
    code, out, err = command(
        "fit", npy, "-k", 1, "-o", "run", "--epochs", 3, "--no-report"
    )
    assert code == 0
    assert "100%" in err
    assert "scedae: warning: n_clusters=1 puts every row into one cluster." in err
    assert "█" not in out
    with open("run/run.json") as file:
        assert json.load(file)["warnings"] == [
            "n_clusters=1 puts every row into one cluster."
        ]


def test_many_columns_with_unicode_names(fit, tmp_path):
    X = np.random.default_rng(0).random((30, 2_000)).round(3)
    names = [f"größe {j} µm" for j in range(2_000)]
    pl.DataFrame(X, schema=names).write_csv(tmp_path / "wide.csv")
    assert fit("wide.csv", "--epochs", "1", "--members", "1")[0] == 0
    model = SCEDAE.load("run/model.scedae")
    assert list(model.feature_names_in_) == names


# --- an output that is there, or cannot be written --------------------------------


def test_an_existing_folder_is_kept_without_force(fit, npy, refused):
    fit(npy)
    before = {p: p.read_bytes() for p in (npy.parent / "run").iterdir()}
    refused(fit(npy, "--seed", "1"), "run exists", "--force", left=["run"])
    assert {p: p.read_bytes() for p in (npy.parent / "run").iterdir()} == before
    assert fit(npy, "--seed", "1", "--force")[0] == 0
    assert SCEDAE.load("run/model.scedae").seed_ == 1
    assert {p.name for p in npy.parent.iterdir()} == {"cells.npy", "run"}


def test_force_replaces_runs_only(fit, npy, refused, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("all of it")
    result = fit(npy, "--force", out="precious")
    refused(result, "not a folder written by scedae fit", left=["precious"])
    assert (tmp_path / "precious" / "thesis.tex").exists()
    refused(fit(npy, "--force", out=npy), "not a folder written", left=["precious"])


def test_no_folder_to_write_into(fit, npy, refused):
    refused(fit(npy, out="no/where"), "there is no folder")


@pytest.mark.parametrize(
    "where",
    [
        "pathlib.Path.write_bytes",
        "scedae.cli.fitting.write_labels",
        "scedae.cli.fitting.write_record",
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_full_disk_leaves_everything_as_it_was(
    fit, npy, refused, monkeypatch, where, force
):
    if force:
        fit(npy)
        before = SCEDAE.load("run/model.scedae").seed_

    def disk_full(*arguments, **named):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(where, disk_full)
    result = fit(npy, "--seed", "1", *(["--force"] if force else []))
    refused(result, "No space left on device", left=["run"] if force else [])
    if force:
        assert SCEDAE.load("run/model.scedae").seed_ == before


# --- the report -------------------------------------------------------------------


def test_without_a_report_module_the_fit_is_whole(command, npy, monkeypatch):
    monkeypatch.setitem(sys.modules, "scedae.report", None)
    quick = [option for option in QUICK if option != "--no-report"]
    code, out, err = command("fit", npy, "-k", 3, "-o", "run", *quick)
    assert code == 0
    assert err.startswith("scedae: no report could be made")
    assert "report.html" not in out


def test_the_report_gets_what_it_needs(command, csv, monkeypatch, blobs):
    seen = {}
    fake_report(monkeypatch, seen)
    quick = [option for option in QUICK if option != "--no-report"]
    code, out, err = command("fit", csv, "-k", 3, "-o", "run", *quick, *COLUMNS)
    assert (code, err) == (0, "")
    assert "report.html" in out
    np.testing.assert_array_equal(seen["X"], blobs[0])
    assert seen["columns"] == [f"x{j}" for j in range(6)]
    assert seen["ids"][5] == "row-5"
    assert set(seen["true_labels"]) == {"ä", "b", "c"}
    assert seen["info"]["data"]["path"] == str(csv)
    assert "encode" in seen["info"]["seconds"]


def test_a_report_that_fails_costs_no_fit(command, npy, monkeypatch):
    fake_report(monkeypatch, {}, error=ZeroDivisionError("an empty picture"))
    quick = [option for option in QUICK if option != "--no-report"]
    code, out, err = command("fit", npy, "-k", 3, "-o", "run", *quick)
    assert code == 0
    assert err == (
        "scedae: no report could be made: ZeroDivisionError: an empty picture\n"
    )
    assert "labels.csv, model.scedae, run.json" in out


def test_an_interrupted_exchange_is_undone(fit, npy, monkeypatch, tmp_path):
    """Ctrl-C after the earlier run was moved away, before the new one has its name."""
    fit(npy)
    rename = Path.rename

    def interrupted(path, target):
        if path.suffix == ".tmp":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    code, _, err = fit(npy, "--seed", "1", "--force")
    assert code == 130
    assert err == "scedae: interrupted; nothing was written.\n"
    assert SCEDAE.load("run/model.scedae").seed_ == 0
    assert {p.name for p in tmp_path.iterdir()} == {"cells.npy", "run"}


def fake_report(monkeypatch, seen, error=None):
    """A stand-in for the module that draws the page."""

    def write_report(model, X, path, **named):
        seen.update(named, model=model, X=X)
        path.write_text("<html></html>")
        if error is not None:
            raise error

    module = SimpleNamespace(write_report=write_report)
    monkeypatch.setitem(sys.modules, "scedae.report", module)


def test_the_number_of_clusters_is_found(command, csv):
    arguments = ["--id-column", "name", "--labels", "group", *QUICK]
    code, out, err = command("fit", csv, "-k", "auto", "-o", "run", *arguments)
    assert (code, err) == (0, "")
    assert "240 rows of 6 columns in 3 clusters" in out
    assert "stability 1.00; clusters by score: 3 (" in out
    with open("run/run.json") as file:
        run = json.load(file)
    assert run["parameters"]["n_clusters"] == "auto"
    assert run["candidates"][0]["n_clusters"] == 3
    assert run["stability"] == 1
    assert SCEDAE.load("run/model.scedae").n_clusters_ == 3


def test_effort_is_handed_on(fit, csv):
    code, out, _ = fit(csv, *COLUMNS, "--effort", "fast")
    assert code == 0
    assert "\nstability " in out
    assert "score" not in out  # the number was given
    with open("run/run.json") as file:
        run = json.load(file)
    assert run["parameters"]["effort"] == "fast"
    assert run["candidates"] == []
