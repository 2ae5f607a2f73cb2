"""--force replaces what an earlier run wrote, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scedae.cli import output
from scedae.cli.messages import InputError
from scedae.cli.output import new_folder


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_is_replaced(fit, csv, tmp_path):
    assert fit(csv, "--drop", "name,group")[0] == 0
    before = files(tmp_path / "run")
    assert fit(csv, "--drop", "name,group", "--seed", 1, "--force")[0] == 0
    after = files(tmp_path / "run")
    assert before.keys() == after.keys()
    assert before["run.json"] != after["run.json"]
    assert {path.name for path in tmp_path.iterdir()} == {"cells.csv", "run"}


def test_a_folder_that_holds_anything_else_is_kept(fit, csv, tmp_path, refused):
    fit(csv, "--drop", "name,group")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    before = files(tmp_path / "run")
    result = fit(csv, "--drop", "name,group", "--force")
    refused(result, "it holds 'notes.txt'", "will not replace", left=["run"])
    assert files(tmp_path / "run") == before


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"versions": 3}', "[" * 5000, '{"versions": {}}']
)
def test_a_file_called_run_json_makes_no_run(content, npy, fit, tmp_path, refused):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "run.json").write_text(content)
    result = fit(npy, "--force", out="mine")
    refused(result, "not a folder written by scedae fit", left=["mine"])
    assert (folder / "run.json").read_text() == content


def test_a_run_is_not_replaced_by_a_fit_of_its_own_labels(fit, csv, tmp_path, refused):
    fit(csv, "--drop", "name,group")
    before = files(tmp_path / "run")
    result = fit("run/labels.csv", "--force")
    refused(result, "is read by this command", left=["run"])
    assert files(tmp_path / "run") == before


def test_an_empty_folder_may_be_replaced(fit, npy, tmp_path):
    (tmp_path / "run").mkdir()
    assert fit(npy, "--force")[0] == 0
    assert "model.scedae" in files(tmp_path / "run")


@pytest.fixture
def fitted(fit, npy, tmp_path):
    assert fit(npy)[0] == 0
    return tmp_path


def test_predict_never_writes_over_what_it_reads(command, fitted):
    os.link(fitted / "cells.npy", fitted / "second.npy")
    (fitted / "link.npy").symlink_to("cells.npy")
    before = (fitted / "cells.npy").read_bytes(), files(fitted / "run")
    for out in ("cells.npy", "second.npy", "link.npy", "run/model.scedae"):
        code, _, err = command("predict", "run", "cells.npy", "-o", out, "--force")
        assert code == 2 and err.count("\n") == 1, err
    assert before == ((fitted / "cells.npy").read_bytes(), files(fitted / "run"))


def test_predict_never_writes_over_its_input_in_the_form_of_labels(command, fitted):
    """Labels of an earlier run as the data of the next one."""
    data = fitted / "data.csv"
    data.write_text("id,label,confidence\n1,2,3\n")
    from scedae.cli.output import new_labels

    with (
        pytest.raises(InputError, match="is read by this command"),
        new_labels(data, force=True, inputs=[data]),
    ):
        pass
    assert data.read_text() == "id,label,confidence\n1,2,3\n"


def test_predict_replaces_labels_alone(command, fitted):
    arguments = ("predict", "run", "cells.npy", "-q", "-o")
    assert command(*arguments, "labels.csv")[0] == 0
    assert command(*arguments, "labels.csv")[0] == 2
    assert command(*arguments, "labels.csv", "--force")[0] == 0
    (fitted / "thesis.txt").write_text("years of work")
    code, _, err = command(*arguments, "thesis.txt", "--force")
    assert code == 2 and "not a file of labels" in err
    assert (fitted / "thesis.txt").read_text() == "years of work"


def interrupt(monkeypatch, number):
    """The n-th rename of a folder fails as if the process were interrupted."""
    calls, rename = [], type(output.Path()).rename

    def renaming(self, target):
        calls.append(self)
        if len(calls) == number:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr("pathlib.Path.rename", renaming)


@pytest.mark.parametrize("number", [1, 2])
def test_interrupted_while_renaming_the_earlier_run_is_there(
    fitted, monkeypatch, number
):
    before = files(fitted / "run")
    with monkeypatch.context() as patch:
        interrupt(patch, number)
        with (
            pytest.raises(KeyboardInterrupt),
            new_folder(fitted / "run", force=True) as folder,
        ):
            (folder / "run.json").write_text("{}")
    assert files(fitted / "run") == before
    assert not list(fitted.glob(".*"))


def test_killed_between_two_names_the_earlier_run_comes_back(fitted, fit, npy):
    before = files(fitted / "run")
    (fitted / "run").rename(fitted / ".run.former")
    assert fit(npy)[0] == 2  # it exists
    assert files(fitted / "run") == before
    assert not list(fitted.glob(".*"))


@pytest.mark.slow
def test_killed_while_the_former_run_is_deleted_the_next_goes_on(
    fitted, fit, npy, monkeypatch
):
    """After any of its files: what is left of it is known as ours, and goes."""
    files = output._FILES & {path.name for path in (fitted / "run").iterdir()}
    usual, left = Path.unlink, 0

    def unlink(path, **how):
        nonlocal left
        if path.parent.name == ".run.former":
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
        usual(path, **how)

    # Whatever order the folder gives its files in.
    whole = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda p: iter(sorted(whole(p))[::-1]))
    for left_alone in range(len(files)):
        left = left_alone
        monkeypatch.setattr(Path, "unlink", unlink)
        fit(npy, "--force")
        monkeypatch.setattr(Path, "unlink", usual)
        assert (fitted / ".run.former").exists()
        assert fit(npy, "--force")[0] == 0
        assert not list(fitted.glob(".*"))


def test_a_killed_fit_leaves_nothing_after_the_next(fitted, fit, npy):
    code = (
        "import os, signal; from pathlib import Path\n"
        "from scedae.cli.output import new_folder\n"
        "with new_folder(Path('other'), force=False) as folder:\n"
        "    (folder / 'run.json').write_text('{')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=fitted)
    assert len(list(fitted.glob(".*"))) == 1
    assert fit(npy, out="other")[0] == 0
    assert not list(fitted.glob(".*"))
