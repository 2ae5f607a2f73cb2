"""The command ``scedae``: fit, predict, report, datasets and reproduce.

It computes nothing: it reads tables, calls the estimator, and writes what it says.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the command."""
    try:
        from scedae.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "polars"):
            raise
        sys.exit(f"scedae: {error.name} is missing; pip install 'scedae[cli]'")
    app(prog_name="scedae")
