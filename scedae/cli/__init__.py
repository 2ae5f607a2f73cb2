"""The command ``scedae``: fit, predict, report, compare, datasets, reproduce.

It computes nothing: it reads tables, calls the estimator, and writes what it says.
The options of each command have a file that imports next to nothing, so that help, a
mistake in an option and the completion of a word are there at once.
"""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from types import FrameType

# What the extra ``cli`` brings.
NEEDED = ("typer", "rich", "polars")


def missing(package: str) -> str:
    return f"{package} is missing; pip install 'scedae[cli]'"


class _Signals:
    """Ended from outside, the command ends as after Ctrl-C: nothing is half-written.

    A signal becomes an exception, which may become another one on its way through an
    import; the number of the signal is remembered.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            usual = (signal.SIG_DFL, signal.default_int_handler)
            # What is ignored stays ignored: that is what nohup is for.
            if number is not None and signal.getsignal(number) in usual:
                signal.signal(number, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)


def main() -> None:
    """Entry point of the command."""
    signals = _Signals()
    _speak_utf8()
    try:
        _run()
    except BaseException:
        if signals.number is None:
            raise
        sys.exit(128 + signals.number)


def _speak_utf8() -> None:
    """What goes through a pipe is what would stand in the file: UTF-8, lines by "\\n".

    Elsewhere the language of the system decides: on Windows, ids in Greek would end the
    command. A terminal shows what it can.
    """
    if not isinstance(sys.stdout, TextIOWrapper):
        return
    if sys.stdout.isatty() or "PYTHONIOENCODING" in os.environ:
        sys.stdout.reconfigure(errors="backslashreplace")
    else:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")


def _run() -> None:
    try:
        from scedae.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(f"scedae: {missing(error.name)}")
    app(prog_name="scedae")
