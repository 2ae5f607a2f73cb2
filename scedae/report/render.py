"""Fill the templates."""

from __future__ import annotations

import re
from typing import Any

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
except ImportError as error:
    raise ImportError(
        "the report needs jinja2: pip install 'scedae[report]'."
    ) from error

from markupsafe import Markup, escape

from scedae.report import numerals
from scedae.report.profiles import outlines

# Names are long, and have no blanks to break at: between "_" and what follows.
_MARKS = re.compile(r"(?<=[_.\-/:])(?=\S)")

# What turns the direction of the text that follows, as a character or as JSON has it;
# an escaped backslash before a "u" is none.
_TURNS = re.compile(
    r"\\\\|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    r"|\\u(?:061c|200[ef]|202[a-e]|206[6-9])"
)


def render_page(context: dict[str, Any], template: str = "page.html") -> str:
    """The page; every string is escaped, JSON included (``tojson``).

    A name cannot turn what stands beside it around: marks of direction are replaced.
    """
    environment = Environment(
        loader=PackageLoader("scedae.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for read in (numerals.short, numerals.percent):
        environment.filters[read.__name__] = read
    environment.filters["breakable"] = _breakable
    environment.globals["outlines"] = outlines
    page = environment.get_template(template).render(context)
    return _TURNS.sub(_plain, page)


def _plain(found: re.Match[str]) -> str:
    return found[0] if found[0] == r"\\" else "\N{REPLACEMENT CHARACTER}"


def _breakable(name: str) -> Markup:
    """A name of a column that may break after its marks, and nowhere else."""
    parts = [Markup(escape(part)) for part in _MARKS.split(name)]
    return Markup("<wbr>").join(parts)
