"""The paper's tables and figures, ours beside the published, with a bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from scedae import experiments
from scedae.cli.messages import InputError, note, noted_warnings
from scedae.exceptions import ScedaeError


def reproduce_paper(names: Sequence[str], *, folder: Path, **how: Any) -> None:
    """What ``scedae reproduce`` does; ``how`` is handed on to ``experiments.run``."""
    with _as_lines(folder), _reporter() as reporter:
        experiments.run(names, folder=folder, reporter=reporter, **how)
        summary = experiments.render(folder)
    for line in summary.read_text("utf-8").split("\n\n"):
        if line.startswith(("**This is the small", "Of ", "Nothing")):
            typer.echo(line.replace("*", "").replace("`", ""))
    typer.echo(str(summary))


@contextmanager
def _as_lines(folder: Path) -> Iterator[None]:
    """Errors and Ctrl-C end in one line each."""
    try:
        with noted_warnings():
            yield
    except KeyboardInterrupt as error:
        note(f"stopped; the same command goes on where it was, in {folder}.")
        raise typer.Exit(130) from error
    except (ScedaeError, ImportError) as error:
        raise InputError(str(error)) from error


@contextmanager
def _reporter() -> Iterator[experiments.Reporter]:
    """A bar on a terminal, plain lines in a log."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield experiments.LogLines()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    text = TextColumn("{task.description}")
    with Bar(*columns, text, console=console, transient=True) as bar:
        yield _LiveBar(bar)


class _LiveBar:
    """One line that says how many runs are done, and which is the last."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None)

    def begin(self, n_runs: int) -> None:
        self._bar.update(self._task, total=n_runs)

    def finished(self, record: dict[str, object]) -> None:
        self._bar.update(self._task, advance=1, description=experiments.title(record))

    def say(self, text: str) -> None:
        self._bar.update(self._task, description=text)
