"""``scedae report`` and ``scedae datasets``."""

import json
import sys
from pathlib import Path

import pytest

from scedae import datasets
from tests.cli.test_fit import fake_report

COLUMNS = ["--id-column", "name", "--labels", "group"]


@pytest.fixture
def page(monkeypatch):
    """What the page was made from."""
    seen = {}
    fake_report(monkeypatch, seen)
    return seen


def test_a_page_is_made_again(fit, command, csv, page, tmp_path):
    fit(csv, *COLUMNS)
    assert not page
    assert command("report", "run") == (0, "run/report.html\n", "")
    assert (tmp_path / "run" / "report.html").read_text() == "<html></html>"
    assert page["columns"] == [f"x{j}" for j in range(6)]
    assert page["ids"][3] == "row-3"
    assert len(page["true_labels"]) == len(page["X"]) == 240
    assert page["info"]["scores"]["acc"] == 1
    assert page["model"].labels_.shape == (240,)
    # and again
    assert command("report", "run")[0] == 0


def test_data_that_was_moved_or_changed(fit, command, csv, page, refused):
    fit(csv, *COLUMNS)
    moved = csv.rename(csv.with_name("elsewhere.csv"))
    refused(command("report", "run"), "there is no file", "--data PATH", left=["run"])
    assert command("report", "run", "--data", moved)[0] == 0
    moved.write_text(moved.read_text().replace("row-3,", "row-x,"))
    result = command("report", "run", "--data", moved)
    refused(result, "is not the data of this run", "SHA-256", left=["run"])


def test_a_data_set_needs_no_path(fit, command, page):
    assert fit("digits", "--columns", ",".join(map(str, range(64))))[0] == 0
    assert command("report", "run")[0] == 0
    assert page["X"].shape == (1797, 64)


def test_folders_that_are_no_runs(fit, command, npy, refused, tmp_path, monkeypatch):
    refused(command("report", "nowhere"), "it has no run.json")
    fit(npy)
    monkeypatch.setitem(sys.modules, "scedae.report", None)
    refused(command("report", "run"), "no report could be made", left=["run"])
    (tmp_path / "run" / "run.json").write_text("{}")
    refused(
        command("report", "run"), "run.json is not as scedae fit wrote it", left=["run"]
    )


# --- data sets --------------------------------------------------------------------


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("SCEDAE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_list(command, no_data):
    code, out, err = command("datasets")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["name", "rows", "columns", "classes", "state"]
    assert [line.split()[0] for line in lines[1:]] == list(datasets.NAMES)
    assert lines[1].split() == ["digits", "1,797", "64", "10", "embedded"]
    assert lines[2].split() == ["mnist", "70,000", "784", "10", "absent"]


def test_a_damaged_file_is_called_so(command, no_data, tmp_path, refused):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "fcps_tetra.npz").write_bytes(b"nonsense")
    listed = json.loads(command("datasets", "--json")[1])
    assert {line["name"]: line["state"] for line in listed}["tetra"] == "damaged"
    result = command("datasets", "tetra")
    refused(result, "tetra: ", "cannot be read", left=["data"])


def test_one_that_cannot_be_had(command, no_data, refused):
    refused(command("datasets", "lsun"), "is not on this machine", "SCEDAE_DATA")
    refused(command("datasets", "iris"), "must be one of digits, mnist")
    refused(command("fit", "lsun", "-k", 3, "-o", "run"), "is not on this machine")


@pytest.mark.data
def test_a_file_is_verified(command, data_folder):
    line = json.loads(command("datasets", "tetra", "--json")[1])
    assert line["state"] == "verified"
    assert line["file"] == str(data_folder / "fcps_tetra.npz")


def test_two_runs_are_compared(fit, command, npy, refused):
    import json

    assert fit(npy, out="one")[0] == 0
    assert fit(npy, "--seed", "1", out="two")[0] == 0
    code, out, err = command("compare", "one", "two", "-o", "page.html")
    assert (code, err) == (0, "")
    assert out.startswith("240 rows in both, ARI 1.000")
    with open("page.html", encoding="utf-8") as file:
        assert "Flow of rows" in file.read()
    code, out, _ = command("compare", "one", "two", "--json")
    assert json.loads(out)["moved"] == 0
    left = ["one", "two"]
    refused(command("compare", "one", "nowhere"), "no folder of a run", left=left)
    refused(command("compare", "one", "two", "-o", "page.html"), "exists", left=left)
    labels = Path("two/labels.csv")
    lines = labels.read_text().splitlines()
    labels.write_text("\n".join(lines[:-5]))
    assert "5 rows are in one run only" in command("compare", "one", "two")[2]
    labels.write_text("\n".join([lines[0], *(f"x{line}" for line in lines[1:])]))
    refused(command("compare", "one", "two"), "no row in common", left=left)
    labels.write_text("nothing")
    refused(command("compare", "one", "two"), "is damaged", left=left)
