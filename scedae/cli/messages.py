"""What is said to the user beside the result: one line each, on standard error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer


class InputError(Exception):
    """Something the user gave cannot be used; the message says what and where."""


def note(text: str) -> None:
    _below_the_bar()
    typer.echo(f"scedae: {one_line(text)}", err=True)


def say(text: str) -> None:
    """Several lines about what is done, as they are."""
    _below_the_bar()
    typer.echo("\n".join(printable(line) for line in text.split("\n")), err=True)


def _below_the_bar() -> None:
    """A bar that stands in the line gives way; it is drawn again below."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")


def one_line(text: object) -> str:
    return printable(" ".join(str(text).split()))


def printable(text: str) -> str:
    """Text out of a file, without what would move a cursor or turn a line around."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@contextmanager
def errors_of(subject: str) -> Iterator[None]:
    """Errors that the package raises about ``subject`` become ``InputError``."""
    from scedae.exceptions import ScedaeError

    try:
        yield
    except (ScedaeError, ValueError) as error:
        raise InputError(f"{subject}: {error}") from error


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Warnings become notes, and are collected for the record of the run."""
    seen: list[str] = []

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        seen.append(one_line(message))
        note(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        # Between the packages, and nothing a user could do about.
        for category in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield seen
