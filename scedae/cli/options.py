"""Options that several commands have, and how their words are taken apart."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scedae.cli.messages import InputError

_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def reading_option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="How cells are read", **more)


Separator = Annotated[
    str | None,
    reading_option(
        "--sep",
        help="What separates columns of text: , ; | or tab. Found by looking, if not "
        "given.",
    ),
]
Header = Annotated[
    bool | None,
    reading_option(
        "--header/--no-header",
        help="Whether the first line names the columns. Found by looking, if not "
        "given.",
        show_default=False,
    ),
]
Sheet = Annotated[
    str | None,
    reading_option("--sheet", help="Sheet of an .xlsx file; the first, if not given."),
]


Proba = Annotated[
    bool,
    typer.Option("--proba", help="Write the chance of each cluster: probability_0, …"),
]
Layers = Annotated[
    str | None,
    typer.Option(
        help="Write labels at other numbers of clusters too, as 4,20: layer_4, …",
        metavar="N,N",
    ),
]


def numbers(text: str | None) -> tuple[int, ...]:
    """The numbers of clusters in "4,20"."""
    words = names(text)
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise InputError(f"--layers {text!r} must be numbers of clusters, as 4,20.")
    return tuple(dict.fromkeys(map(int, words)))


def names(text: str | None) -> tuple[str, ...]:
    """The words of "a,b,c"."""
    return tuple(name.strip() for name in text.split(",")) if text else ()


def separator(text: str | None) -> str | None:
    if text is None:
        return None
    mark = _SEPARATORS.get(text.lower(), text)
    if len(mark) != 1:
        raise InputError(f"--sep {text!r} is not one character; or say tab.")
    return mark
