"""Fill the templates."""

from __future__ import annotations

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
