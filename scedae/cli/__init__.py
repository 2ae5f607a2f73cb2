"""The command ``scedae``: fit, predict, report, datasets and reproduce.

It computes nothing: it reads tables, calls the estimator, and writes what it says.
The options of each command have a file that imports next to nothing, so that help, a
mistake in an option and the completion of a word are there at once.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

# What the extra ``cli`` brings.
NEEDED = ("typer", "rich", "polars")


def missing(package: str) -> str:
    return f"{package} is missing; pip install 'scedae[cli]'"


def _end(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)


def main() -> None:
    """Entry point of the command."""
    # Ended from outside, it ends as after Ctrl-C: nothing is left half-written.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        # What is ignored stays ignored: that is what nohup is for.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
    try:
        from scedae.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(f"scedae: {missing(error.name)}")
    app(prog_name="scedae")
