"""The command ``scedae``: fit, predict, report, datasets and reproduce.

It computes nothing: it reads tables, calls the estimator, and writes what it says.
The options of each command have a file that imports next to nothing, so that help, a
mistake in an option and the completion of a word are there at once.
"""

from __future__ import annotations

import sys

# What the extra ``cli`` brings.
NEEDED = ("typer", "rich", "polars")


def missing(package: str) -> str:
    return f"{package} is missing; pip install 'scedae[cli]'"


def main() -> None:
    """Entry point of the command."""
    try:
        from scedae.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(f"scedae: {missing(error.name)}")
    app(prog_name="scedae")
