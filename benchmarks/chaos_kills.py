"""Run something in a process of its own, and kill it at a moment that a seed decides.

The process is a fork of this one, which has imported all it needs: kills meet the
work, not the imports. The moment is the n-th change of a file or folder (counted by an
audit hook, the same in every run) or a share of the processor's time that an
undisturbed run takes (the same on a busy machine).
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
_SOFT = {signal.SIGINT, signal.SIGTERM}
_PATIENCE = 300  # seconds until a process counts as hung
_MOMENT = 20  # for children to end
_TICKS = os.sysconf("SC_CLK_TCK")

Work = Callable[[], object]


@dataclass(frozen=True)
class Usual:
    """What a run does that nobody disturbs."""

    n_changes: int  # of files and folders
    seconds: float  # of a processor


@dataclass(frozen=True)
class Blow:
    """A signal and its moment: before a change, or after so many seconds of work."""

    number: int
    change: int | None = None
    seconds: float | None = None

    @classmethod
    def draw(cls, rng: np.random.Generator, usual: Usual) -> Blow:
        number = SIGNALS[int(rng.integers(len(SIGNALS)))]
        if rng.random() < 0.5:
            return cls(number, change=int(rng.integers(1, usual.n_changes + 1)))
        return cls(number, seconds=float(rng.uniform(0, usual.seconds)))


@dataclass(frozen=True)
class Ended:
    """How a process ended: its code, what it said, and what it used."""

    code: int  # negative: the signal that killed it
    said: str
    usual: Usual
    was_hit: bool  # False: it was done before the moment came
    left_processes: bool


def run_apart(work: Work, folder: Path, blow: Blow | None = None) -> Ended:
    """Call ``work`` in a fork whose working directory is ``folder``."""
    log, count = folder / ".said", folder / ".changes"
    count.unlink(missing_ok=True)
    # A signal in the first moment must not lead the child into this process's work.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SOFT)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = _in_child(work, folder, blow, log, count)
        finally:
            os._exit(code)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SOFT)
    seconds = None if blow is None else blow.seconds
    status, used, sent = _wait(pid, seconds, 0 if blow is None else blow.number)
    code = os.waitstatus_to_exitcode(status)
    finished = count.exists()
    n_changes = int(count.read_text()) if finished else 0
    said = log.read_text(errors="replace")
    for path in (log, count):
        path.unlink(missing_ok=True)
    was_hit = blow is not None and (sent or not finished or n_changes < 0)
    return Ended(code, said, Usual(n_changes, used), was_hit, _is_peopled(pid))


def _in_child(
    work: Work, folder: Path, blow: Blow | None, log: Path, count: Path
) -> int:
    """Like a fresh Python: its own group, plain signals, an exit code."""
    os.setpgid(0, 0)
    os.chdir(folder)
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    changes = _count_changes(blow)
    code = 0
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SOFT)
        work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(bool(error.code))
    except BaseException:
        traceback.print_exc()
        code = 1
    n_changes = changes()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    count.write_text(str(n_changes))
    return code


def _count_changes(blow: Blow | None) -> Callable[[], int]:
    """Count changes from now on, and strike at one; what tells their number.

    A negative number: the blow has fallen.
    """
    seen, fell = 0, False

    def hook(event: str, arguments: tuple) -> None:
        nonlocal seen, fell
        if event not in _CHANGES and not _is_for_writing(event, arguments):
            return
        seen += 1
        if blow is not None and seen == blow.change:
            fell = True
            os.kill(os.getpid(), blow.number)

    sys.addaudithook(hook)
    return lambda: -seen if fell else seen


def _is_for_writing(event: str, arguments: tuple) -> bool:
    if event != "open":
        return False
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _wait(pid: int, seconds: float | None, number: int) -> tuple[int, float, bool]:
    """Until it has ended: its status, its processor time, whether it was struck."""
    sent, deadline = False, time.monotonic() + _PATIENCE
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG | os.WUNTRACED)
        if done and os.WIFSTOPPED(status):
            time.sleep(0.05)
            os.kill(pid, signal.SIGKILL)
        elif done:
            return status, usage.ru_utime + usage.ru_stime, sent
        elif seconds is not None and not sent and processor_time(pid) >= seconds:
            os.kill(pid, number)
            sent = True
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError("a process did not end")
        time.sleep(0.002)


def processor_time(pid: int) -> float:
    # Behind the name of the program, which may hold anything.
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICKS


def _is_peopled(group: int) -> bool:
    """Whether a process of a group is still there; those that end get a moment."""
    deadline = time.monotonic() + _MOMENT
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    return True
