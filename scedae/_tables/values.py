"""What a cell says: nothing, a number, or a date."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

# Words that stand for an empty cell, compared without regard to case.
GAP_WORDS = (
    *("", "na", "n/a", "n.a.", "nan", "null", "?", "-", "--", ".", "<na>", "nat"),
    *("#n/a", "#na", "#null!", "#value!", "#div/0!"),
)
# Words that say nothing among numbers and dates, but may be a category.
_NO_NUMBER = ("none", "nil", "missing", "unknown", "not available", "nd", "x")
# Dates are tried in this order: the year first, then the day first, then the month.
DATE_FORMATS = (
    *("%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M"),
    *("%Y-%m-%dT%H:%M:%S%.fZ", "%Y-%m-%dT%H:%M", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S"),
    # Two digits of a year before four: "%Y" would take them for the year 20.
    *("%d.%m.%y", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
    *("%d/%m/%y", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%d-%m-%Y"),
    *("%m/%d/%y", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
# How numbers are written: 1234.5, 1.234,5 or 1,234.5.
POINT, COMMA, GROUPS = "point", "comma", "groups"

_SIGNS = r"^[$€£¥]\s*|\s*[%€$£]$"
_DAY = 86_400.0


def without_gaps(
    column: pl.Series, na_values: tuple[str, ...] = (), *, among_numbers: bool = False
) -> pl.Series:
    """The column with null wherever a cell says nothing; text loses outer blanks."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        column = column.str.strip_chars()
        words = [*GAP_WORDS, *map(str.lower, na_values)]
        words += _NO_NUMBER if among_numbers else ()
        gaps = column.str.to_lowercase().is_in(words)
        return column.set(gaps.fill_null(False), None)
    if column.dtype == pl.Decimal:
        column = column.cast(pl.Float64)
    if column.dtype.is_float():
        column = column.fill_nan(None)
    wanted = [number for word in na_values if (number := _number(word)) is not None]
    if wanted and column.dtype.is_numeric():
        gaps = column.cast(pl.Float64).is_in(wanted)
        return column.set(gaps.fill_null(False), None)
    return column


def without_excuses(text: pl.Series) -> pl.Series:
    """Text without words that among numbers and dates stand for a gap."""
    return text.filter(~text.str.to_lowercase().is_in(_NO_NUMBER))


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def number_style(text: pl.Series, decimal: str) -> str:
    """How the numbers of a text column are written, by its first thousand values."""
    if decimal != "auto":
        return COMMA if decimal == "," else POINT
    commas = text.filter(text.str.contains(",", literal=True))
    if len(commas) == 0:
        return POINT
    # Groups of three digits never begin with a zero.
    grouped = commas.str.contains(r"^\D*[1-9]\d{0,2}(,\d{3})+(\.\d+)?\D*$")
    return GROUPS if bool(grouped.all()) else COMMA


def plain_numbers(
    frame: pl.DataFrame, decimal: str, told: Collection[str]
) -> pl.DataFrame:
    """The frame with every text column cast that holds plain numbers and nothing else.

    All of them at once: looked at one by one, thousands of columns take minutes. What
    is not plain (gaps in words, codes like 01099, commas, units) stays text, and so do
    the columns of which a user ``told`` what they are.
    """
    schema = frame.schema.items()
    text = [name for name, dtype in schema if dtype == pl.String and name not in told]
    if not text or decimal not in ("auto", "."):
        return frame
    numbers = frame.select(pl.col(text).cast(pl.Float64, strict=False))
    read = numbers.select(pl.all().is_finite().sum()).row(0)
    filled = frame.select(pl.col(text).count()).row(0)
    codes = frame.select(pl.col(text).str.contains(r"^0\d").any()).row(0)
    looks = zip(text, read, filled, codes, strict=True)
    plain = [name for name, n, of_all, code in looks if n == of_all and not code]
    return frame.with_columns(numbers.select(plain).iter_columns())


def to_numbers(column: pl.Series, style: str) -> pl.Series:
    """Numbers in double precision; null where a cell is none."""
    if column.dtype == pl.Duration:
        return column.dt.total_microseconds() / (1e6 * _DAY)
    if column.dtype == pl.Time:
        return column.cast(pl.Int64) / (1e9 * 3600)
    if column.dtype != pl.String:
        return column.cast(pl.Float64)
    plain = column.cast(pl.Float64, strict=False)
    odd = column.is_not_null() & plain.is_null()
    if not odd.any():
        return plain if style != COMMA else _styled(column, style)
    return _styled(column, style)


def _styled(column: pl.Series, style: str) -> pl.Series:
    bare = column.str.replace_all(_SIGNS, "").str.replace_all(r"[\s\u00a0']", "")
    if style == COMMA:
        bare = bare.str.replace_all(".", "", literal=True)
        bare = bare.str.replace(",", ".", literal=True)
    elif style == GROUPS:
        bare = bare.str.replace_all(",", "", literal=True)
    return bare.cast(pl.Float64, strict=False)


def to_days(column: pl.Series, form: str | None) -> pl.Series:
    """Days since 1970 in double precision; null where a cell is no date."""
    if column.dtype == pl.String:
        column = parse_dates(column, form or DATE_FORMATS[0])
    moments = column.cast(pl.Datetime("us"), strict=False)
    return moments.dt.timestamp("us") / (1e6 * _DAY)


def parse_dates(text: pl.Series, form: str) -> pl.Series:
    return text.str.to_datetime(form, strict=False, time_unit="us")


def as_moments(days: pl.Series) -> pl.Series:
    """Days since 1970 as moments."""
    return (days * (1e6 * _DAY)).round().cast(pl.Int64).cast(pl.Datetime("us"))


@dataclass(frozen=True)
class DateStyle:
    """A way to write dates, and the share of cells written that way."""

    form: str
    share: float


def date_style(sample: pl.Series) -> DateStyle | None:
    """The first form in which at least 95 % of some cells are dates."""
    if not bool(sample.str.contains(r"\d").any()):
        return None
    for form in DATE_FORMATS:
        share = 1 - parse_dates(sample, form).null_count() / len(sample)
        if share >= 0.95:
            return DateStyle(form, share)
    return None
