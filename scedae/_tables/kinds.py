"""Which kind of column it is: the written rule of ``docs/tables.md``, in its order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from scedae._tables.values import (
    POINT,
    date_style,
    number_style,
    to_days,
    to_numbers,
    without_excuses,
    without_gaps,
)

NUMBER, DATE, CATEGORY, TEXT = "number", "date", "category", "text"
ID, CONSTANT, EMPTY, OTHER, ASKED = "id", "constant", "empty", "no table cell", "asked"
ENCODED = (NUMBER, DATE, CATEGORY, TEXT)

# A column is numbers, or dates, when this share of its filled cells are.
_MOST = 0.95
# Names (short, mostly different) say who a row is; longer ones say something about it.
_WORDS_OF_TEXT = 3.0
_MOSTLY_DIFFERENT = 0.5
# Cells looked at before all are read as dates or text.
_LOOKED_AT = 1000
_NAME_OF_ID = re.compile(
    r"(^|[\W_])(id|key|uuid|guid|index)$|[a-z](Id|ID)$", re.IGNORECASE
)


@dataclass(frozen=True)
class Kind:
    """What a column is, and how its cells are read."""

    kind: str
    cells: pl.Series  # read: numbers, days, or text; null in gaps
    style: str = POINT  # of numbers
    form: str | None = None  # of dates
    odd: str | None = None  # a cell that could not be read, and counts as a gap


def look_at_column(
    column: pl.Series, *, na_values: tuple[str, ...], decimal: str, wanted: str | None
) -> Kind:
    """The kind of a column; ``wanted`` is what a user says that it is."""
    cells = without_gaps(column, na_values)
    if len(cells) == cells.null_count():
        return Kind(EMPTY, cells)
    if isinstance(cells.dtype, pl.List | pl.Array | pl.Struct | pl.Object | pl.Binary):
        return Kind(OTHER, cells)
    if wanted == NUMBER:
        return _as_numbers(cells, decimal)
    if wanted in (CATEGORY, TEXT):
        return Kind(wanted, cells.cast(pl.String))
    found = _look(column, cells, decimal)
    if wanted == DATE:
        return found
    if found.cells.n_unique() - (found.cells.null_count() > 0) == 1:
        return Kind(CONSTANT, found.cells)
    return found


def _look(column: pl.Series, cells: pl.Series, decimal: str) -> Kind:
    dtype = cells.dtype
    if dtype == pl.Boolean:
        return Kind(CATEGORY, cells.cast(pl.String))
    if column.dtype in (pl.Categorical, pl.Enum):
        return Kind(CATEGORY, cells)
    if dtype in (pl.Date, pl.Datetime):
        return Kind(DATE, to_days(cells, None))
    if dtype == pl.String:
        return _look_at_text(cells, decimal)
    return _look_at_numbers(cells, to_numbers(cells, POINT), POINT)


def _as_numbers(cells: pl.Series, decimal: str) -> Kind:
    style = POINT
    if cells.dtype == pl.String:
        style = number_style(cells.drop_nulls(), decimal)
    if cells.dtype in (pl.Date, pl.Datetime):
        return Kind(DATE, to_days(cells, None))
    numbers = to_numbers(cells, style)
    if numbers.null_count() == len(numbers):
        raise ValueError(
            f"column {cells.name!r} holds no numbers ({cells.drop_nulls()[0]!r}, for "
            "one): it cannot be a numeric one."
        )
    return Kind(NUMBER, numbers, style, odd=_odd(cells, numbers))


def _look_at_numbers(cells: pl.Series, numbers: pl.Series, style: str) -> Kind:
    kind = ID if _is_id(numbers) else NUMBER
    return Kind(kind, numbers, style, odd=_odd(cells, numbers))


def _is_id(numbers: pl.Series) -> bool:
    """Whole numbers, each once, that count the rows or have the name of an id."""
    if numbers.null_count() or not bool((numbers == numbers.floor()).all()):
        return False
    first = numbers[0]
    counts = first in (0, 1) and len(numbers) > 2
    if counts and bool((numbers.diff().drop_nulls() == 1).all()):
        return True
    return bool(_NAME_OF_ID.search(numbers.name)) and bool(numbers.is_unique().all())


def _look_at_text(cells: pl.Series, decimal: str) -> Kind:
    filled = cells.drop_nulls()
    telling = without_excuses(filled)
    step = max(len(telling) // _LOOKED_AT, 1)
    sample = telling.gather_every(step).head(_LOOKED_AT)
    # A code keeps its leading zero: 01099 is no number.
    if not bool(sample.str.contains(r"^0\d+$").any()):
        style = number_style(sample, decimal)
        if _share(sample, to_numbers(sample, style)) >= _MOST:
            numbers = to_numbers(cells, style)
            if _share(telling, numbers) >= _MOST:
                return _look_at_numbers(cells, numbers, style)
    if (found := date_style(sample)) is not None:
        days = to_days(cells, found.form)
        if _share(telling, days) >= _MOST:
            odd = _odd(cells, days)
            return Kind(DATE, days, form=found.form, odd=odd)
    words = sample.str.count_matches(r"\S+").mean()
    is_long = float(str(words)) >= _WORDS_OF_TEXT
    if filled.n_unique() > _MOSTLY_DIFFERENT * len(filled):
        return Kind(TEXT if is_long else ID, cells)
    return Kind(CATEGORY, cells)


def _share(cells: pl.Series, read: pl.Series) -> float:
    """Share of filled cells that could be read; none, if there are none."""
    filled = len(cells) - cells.null_count()
    return (len(read) - read.null_count()) / max(filled, 1)


def _odd(cells: pl.Series, read: pl.Series) -> str | None:
    if cells.null_count() == read.null_count():
        return None
    return str(cells.filter(cells.is_not_null() & read.is_null())[0])
