"""``scedae reproduce``: the paper's tables and figures, ours beside the published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from scedae import experiments
from scedae.cli.messages import InputError, note, noted_warnings
from scedae.exceptions import ScedaeError

# Parts of others, for machines without the command.
_PARTS = ("joint", "embedding")
_NAMES = [name for name in experiments.NAMES if name not in _PARTS]
_DATA = experiments.load_specification().data


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help=f"{', '.join(_NAMES)}; all if none."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(_DATA)}; all if not given."),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(help="Runs of each clustering; 10 as the paper.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write, or to go on with.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, minutes on a CPU.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the clusterings.")
    ] = None,
) -> None:
    """Run the paper's tables and figures again, beside the published values.

    Each number is written down as soon as it is there: stop at any moment,
    and the same command goes on where it was. With all of them there it
    only makes the tables and figures again. The folder gets summary.md,
    tables (Markdown and CSV), figures (PNG and SVG) and all records.

    [bold]Examples[/]

    scedae reproduce ensembles --data usps pendigits -o paper

    scedae reproduce --quick
    """
    given, keys = _sorted_out(names or [], data)
    with _as_lines(out), _reporter() as reporter:
        experiments.run(
            given or _NAMES,
            data=keys,
            replicates=replicates,
            device=device,
            folder=out,
            quick=quick,
            workers=workers,
            reporter=reporter,
        )
        summary = experiments.render(out)
    for line in summary.read_text("utf-8").split("\n\n"):
        if line.startswith(("**This is the small", "Of ", "Nothing")):
            typer.echo(line.replace("*", "").replace("`", ""))
    typer.echo(str(summary))


def _sorted_out(
    names: Sequence[str], data: Sequence[str] | None
) -> tuple[list[str], list[str] | None]:
    """Names and data sets; ``--data a b`` leaves b among the names, ``a,b`` is one."""
    if data is None:
        return list(names), None
    keys = [key for text in data for key in text.split(",") if key]
    keys += [word for word in names if word in _DATA]
    return [word for word in names if word not in _DATA], list(dict.fromkeys(keys))


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
