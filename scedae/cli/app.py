"""The command and its exit codes: 0 done, 2 bad input, 130 interrupted."""

from __future__ import annotations

import errno
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from scedae import __version__
from scedae.cli import NEEDED, missing
from scedae.cli.compare import compare
from scedae.cli.data import datasets
from scedae.cli.fit import fit
from scedae.cli.messages import InputError, note
from scedae.cli.predict import predict
from scedae.cli.report import report
from scedae.cli.reproduce import reproduce


class Commands(TyperGroup):
    """Turns errors of the user's world into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            note("interrupted; nothing was written.")
            raise typer.Exit(130) from error
        except ModuleNotFoundError as error:
            if error.name not in NEEDED:
                raise
            note(missing(error.name))
            raise typer.Exit(2) from error
        except (InputError, OSError) as error:
            # A reader that closed the pipe (head) is no error; typer deals with it.
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            note(f"error: {_text(error)}")
            raise typer.Exit(2) from error


def _text(error: Exception) -> str:
    """An error of the system without its number: "No such file: 'x'"."""
    if isinstance(error, OSError) and error.strerror:
        name = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{name}"
    return str(error)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"scedae {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Cluster the rows of a table by an ensemble of deep autoencoders.

    Results go to standard output, progress and errors to standard error.
    The exit code is 0 when done, 2 for input that cannot be used, and 130
    after Ctrl-C. Nothing is ever left half-written.

    [bold]Example[/]

    scedae fit digits -k 10 -o run --labels known

    scedae predict run digits | head -5
    """


for command in (fit, predict, report, compare, datasets, reproduce):
    app.command()(command)
