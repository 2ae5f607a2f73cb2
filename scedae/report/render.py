"""Fill the templates, and write the page in one step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
except ImportError as error:
    raise ImportError(
        "the report needs jinja2: pip install 'scedae[report]'."
    ) from error

from scedae.report import numerals


def render(context: dict[str, Any]) -> str:
    """The page; every string is escaped, JSON included (``tojson``)."""
    environment = Environment(
        loader=PackageLoader("scedae.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for read in (numerals.short, numerals.percent):
        environment.filters[read.__name__] = read
    return environment.get_template("page.html").render(context)


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a file beside its place and move it there: never half a page."""
    target = Path(path)
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # What a plain open() would have given; mkstemp lets only the owner read.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
