"""What was done with each column, in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scedae._tables.kinds import ASKED, CATEGORY, DATE, NUMBER, TEXT

# More names than this make no line that anybody reads.
_NAMES_SHOWN = 8
_HEADINGS = {
    NUMBER: "numbers",
    DATE: "dates",
    CATEGORY: "categories",
    TEXT: "free text",
}


@dataclass(frozen=True)
class LeftOut:
    """A column that is not clustered, and why."""

    name: str
    kind: str
    gaps: int


def lines_of(
    columns: Sequence[Any], left_out: Sequence[LeftOut], n_rows: int, n_features: int
) -> str:
    """A line for each kind of column, with gaps and what was left out."""
    total = len(columns) + len(left_out)
    lines = [
        f"{n_rows:,} {_many(n_rows, 'row')}, {len(columns)} of {total} "
        f"{_many(total, 'column')} used, as {n_features} "
        f"{_many(n_features, 'feature')}"
    ]
    for kind, heading in _HEADINGS.items():
        names = [_named(column) for column in columns if column.kind == kind]
        lines += _line(heading, names)
    why = [e.name if e.kind == ASKED else f"{e.name} ({e.kind})" for e in left_out]
    lines += _line("left out", why)
    return "\n".join(lines)


def _line(heading: str, names: list[str]) -> Iterable[str]:
    if not names:
        return []
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(names[:_NAMES_SHOWN])
    return [f"  {heading:<12}{shown}{f' and {more} more' if more > 0 else ''}"]


def _named(column: Any) -> str:
    notes = []
    if column.kind == CATEGORY:
        notes.append(f"{len(column.levels)}")
    if getattr(column, "log_unit", None) is not None:
        notes.append("log")
    if column.gaps:
        notes.append(f"{column.gaps:,} {_many(column.gaps, 'gap')}")
    if column.odd is not None:
        notes.append(f"{column.odd!r} is one")
    return f"{column.name} ({', '.join(notes)})" if notes else column.name


def _many(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
