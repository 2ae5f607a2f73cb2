"""A real process, killed in the middle, goes on where it was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scedae._storage import checkpoint
from scedae.experiments.folder import RequestError, claimed
from scedae.experiments.plan import PaperRun
from scedae.experiments.reporting import TrainingLines
from scedae.experiments.store import Store
from tests.experiments import tiny

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def start(folder, n_workers):
    """The script of ``tiny``, with its messages beside the folder."""
    command = [sys.executable, tiny.__file__, str(folder), str(n_workers)]
    with folder.with_suffix(".log").open("a") as log:
        return subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stderr=log)


def records(folder):
    return {PaperRun.of(r).key: r for r in Store(folder).records()}


def wait_for_records(folder, n, process):
    while len(records(folder)) < n:
        assert process.poll() is None, folder.with_suffix(".log").read_text()
        time.sleep(0.02)


def children_of(process):
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(word) for word in path.read_text().split()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.slow  # `make chaos` kills thirty of them
def test_a_killed_run_resumes_and_ends_the_same(tmp_path, reproduce):
    """The same numbers as a run that was left alone, none of them made twice."""
    folder = tmp_path / "killed"
    process = start(folder, 1)
    wait_for_records(folder, 12, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = records(folder)
    with (folder / "records" / "baselines-usps.jsonl").open("a") as file:
        file.write('{"experiment":"baselines","data":"usps","meth')  # as a kill may

    process = start(folder, 1)
    assert process.wait() == 0, folder.with_suffix(".log").read_text()
    whole = records(folder)
    assert {k: whole[k] for k in kept} == kept

    reproduce(*tiny.STOPPED, folder=tmp_path / "alone")
    alone = records(tmp_path / "alone")
    assert len(kept) < len(whole)
    assert whole.keys() == alone.keys()
    scores = {k: r.get("scores") for k, r in whole.items()}
    assert scores == {k: r.get("scores") for k, r in alone.items()}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_workers_do_not_outlive_a_killed_run(tmp_path):
    process = start(tmp_path / "killed", 2)
    wait_for_records(tmp_path / "killed", 5, process)
    children = children_of(process)
    assert len(children) >= 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while any(map(is_running, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, children))


def test_ctrl_c_ends_with_a_line_that_says_how_to_go_on(tmp_path):
    folder = tmp_path / "stopped"
    code = (
        "from scedae.experiments.__main__ import main; from tests.experiments import "
        "tiny; tiny.set_up(); main()"
    )
    command = [sys.executable, "-c", code, *tiny.STOPPED, "--data", "usps"]
    command += ["--workers", "1", "-o", str(folder)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    wait_for_records(folder, 5, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "stopped; the same command goes on where it was."


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_ctrl_c_is_quiet_while_workers_start(tmp_path):
    """A terminal sends it to all processes, also to those that still import."""
    folder = tmp_path / "stopped"
    code = (
        "from scedae.experiments.__main__ import main; from tests.experiments import "
        "tiny; tiny.set_up(); main()"
    )
    command = [sys.executable, "-c", code, "baselines", "--data", "usps"]
    command += ["--workers", "2", "-o", str(folder)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(children_of(process)) < 3:  # two, and the tracker of resources
        assert process.poll() is None
        time.sleep(0.01)
    # Those who only begin hear it a little sooner here than in a terminal.
    for child in children_of(process):
        os.kill(child, signal.SIGINT)
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert errors.splitlines()[-1] == "stopped; the same command goes on where it was."


def test_a_stopped_training_goes_on_at_its_epoch(reproduce, monkeypatch):
    """As the message of Ctrl-C says; and ends with the codes of one left alone."""
    reproduce("landmarks", replicates=1, folder=reproduce.folder / "alone")
    monkeypatch.setattr(checkpoint, "_INTERVAL", 0.0)
    epochs = []

    def advance(lines, share, detail):
        epochs.append(detail)
        if stops and "epoch 3," in detail:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingLines, "advance", advance)
    stops = True
    with pytest.raises(KeyboardInterrupt):
        reproduce("landmarks", replicates=1)
    assert not list((reproduce.folder / "encodings").glob("*.safetensors"))
    stops, before = False, len(epochs)
    reproduce("landmarks", replicates=1)
    taken = [detail for detail in epochs[before:] if "epoch" in detail]
    assert taken and not any("epoch 1," in detail for detail in taken)
    (mine,) = (reproduce.folder / "encodings").iterdir()  # nothing is left over
    alone = reproduce.folder / "alone" / "encodings" / mine.name
    assert mine.read_bytes() == alone.read_bytes()


def test_two_runs_do_not_work_in_one_folder(reproduce):
    with (
        claimed(reproduce.folder, tiny.specification()),
        pytest.raises(RequestError, match="another run is working"),
    ):
        reproduce("landmarks")
