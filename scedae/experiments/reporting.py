"""What is said while runs are going on."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from scedae._progress import Progress
from scedae.experiments.store import Record

_SECONDS_BETWEEN_LINES = 10.0


class Reporter(Protocol):
    """Someone who is told how far things are; from several threads."""

    def begin(self, n_runs: int) -> None: ...

    def finished(self, record: Record) -> None: ...

    def say(self, text: str) -> None: ...


class LogLines:
    """Plain lines on standard error, one every ten seconds."""

    def __init__(self) -> None:
        self._n_runs = self._n_done = 0
        self._started = self._last = time.monotonic()

    def begin(self, n_runs: int) -> None:
        self._n_runs = n_runs
        self.say(f"{n_runs} runs to do")

    def finished(self, record: Record) -> None:
        self._n_done += 1
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES or self._n_done == self._n_runs:
            self._last = now
            self.say(f"{self._n_done} of {self._n_runs} runs: {title(record)}")

    def say(self, text: str) -> None:
        seconds = time.monotonic() - self._started
        sys.stderr.write(f"{seconds:7.1f} s  {text}\n")
        sys.stderr.flush()


def title(record: Record) -> str:
    """A run in a few words."""
    parts = ("data", "variant", "method", "structure")
    return " ".join(str(record[part]) for part in parts if record[part])


class TrainingLines(Progress):
    """Tells a reporter how far a training is."""

    def __init__(self, reporter: Reporter, subject: str) -> None:
        super().__init__()
        self._reporter, self._subject = reporter, subject
        self._last_line = time.monotonic()

    def advance(self, share: float, detail: str) -> None:
        super().advance(share, detail)
        now = time.monotonic()
        if detail and now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._reporter.say(f"{self._subject}: {detail}")
