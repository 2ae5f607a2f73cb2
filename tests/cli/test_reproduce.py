"""``scedae reproduce``: what it refuses, what it writes, how it stops."""

import io

import pytest
from rich.console import Console

from scedae.cli import reproducing as module
from scedae.cli.reproduce import _sorted_out
from tests.experiments import tiny


@pytest.fixture
def small_world(monkeypatch):
    tiny.set_up(monkeypatch.setattr)


def test_runs_and_renders(command, small_world, tmp_path):
    arguments = ["landmarks", "--data", "usps", "--replicates", 1, "-o", "paper"]
    code, out, err = command("reproduce", *arguments)
    assert code == 0, err
    *counts, page = out.splitlines()
    assert page == "paper/summary.md"
    assert counts[0].startswith("Of 2 cells that were run")
    assert (tmp_path / "paper" / "tables" / "landmarks.csv").exists()
    assert "runs to do" in err  # not a terminal: plain lines
    # All records are there: it only renders.
    (tmp_path / "paper" / "summary.md").unlink()
    code, out, err = command("reproduce", *arguments)
    assert (code, err) == (0, "")
    assert (tmp_path / "paper" / "summary.md").exists()


def test_a_small_run_says_so(command, small_world):
    code, out, _ = command("reproduce", "landmarks", "--quick", "-o", "small")
    assert code == 0
    assert "small version" in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["tabels"], "there is no name 'tabels'; choose of fcps, baselines"),
        (
            ["fcps", "--data", "ups"],
            "there is no data set 'ups'; choose of mnist, usps",
        ),
        (["fcps", "--replicates", "0"], "at least 1"),
        (["comparison", "--data", "pendigits"], "no comparison for pendigits"),
        (["fcps", "--device", "tpu"], "use 'auto', 'cpu' or 'cuda'"),
    ],
)
def test_what_does_not_exist_is_refused(command, refused, arguments, word):
    refused(command("reproduce", *arguments, "-o", "paper"), word)


def test_absent_data_is_told_before_any_work(command, monkeypatch, tmp_path):
    def unreachable(**arguments):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    monkeypatch.setenv("SCEDAE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, err = command("reproduce", "ensembles", "--data", "usps", "-o", "paper")
    assert (code, out) == (2, "")
    assert err.startswith("scedae: error: the data set 'usps' is not on this machine")
    assert "usps.npz" in err and "SCEDAE_DATA" in err
    assert err.count("\n") == 1


def test_ctrl_c_says_how_to_go_on(command, small_world, monkeypatch):
    def stop(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.experiments, "run", stop)
    code, out, err = command("reproduce", "landmarks", "-o", "paper")
    assert (code, out) == (130, "")
    assert err == "scedae: stopped; the same command goes on where it was, in paper.\n"


@pytest.mark.parametrize(
    ("names", "data", "expected"),
    [
        (["fcps"], None, (["fcps"], None)),
        # typer takes one word after --data and leaves the others among the names.
        (["fcps", "usps", "mnist"], ["pendigits"], (["fcps"], "pendigits usps mnist")),
        (["fcps"], ["usps,mnist"], (["fcps"], "usps mnist")),
        (["fcps"], ["usps", "mnist", "usps"], (["fcps"], "usps mnist")),
        (["fcps", "ups"], ["usps"], (["fcps", "ups"], "usps")),
    ],
)
def test_data_may_be_given_in_any_form(names, data, expected):
    given, keys = _sorted_out(names, data)
    assert given == expected[0]
    assert keys == (expected[1] and expected[1].split())


@pytest.mark.slow
@pytest.mark.data
def test_quick_runs_everything(command, data_folder, tmp_path):
    """The small version of every table and figure, on real rows."""
    code, out, err = command("reproduce", "--quick", "-o", "quick")
    assert code == 0, err
    assert "were not run" in out  # MNIST is not part of it
    tables = {path.stem for path in (tmp_path / "quick" / "tables").iterdir()}
    assert tables == {"baselines", "ensembles", "landmarks", "comparison"} | {
        "fcps",
        "choices",
    }
    figures = {path.name for path in (tmp_path / "quick" / "figures").iterdir()}
    assert {"boxplots.png", "tsne.png", "tsne.svg"} <= figures


def test_a_terminal_gets_a_bar(monkeypatch):
    class Terminal(Console):
        def __init__(self, **more):
            super().__init__(file=io.StringIO(), force_terminal=True, **more)

    monkeypatch.setattr(module, "Console", lambda stderr: Terminal())
    with module._reporter() as reporter:
        reporter.begin(2)
        reporter.say("training")
        record = {"kind": "run", "experiment": "landmarks", "data": "tetra"}
        monkeypatch.setattr(module.experiments, "title", lambda record: "tetra")
        reporter.finished(record)
        (task,) = reporter._bar.tasks
        assert (task.completed, task.total, task.description) == (1, 2, "tetra")
