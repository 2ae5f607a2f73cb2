"""Text files of any make: compressed or not, and whatever separates their columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from scedae._formats import import_extra
from scedae._tables.values import GAP_WORDS

SEPARATORS = (",", ";", "\t", "|")
COMPRESSED = (".gz", ".zst")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What is looked at to tell encoding, separator and header.
_HEAD = 1 << 18
_LINES = 30
_YEARS = range(1800, 2101)


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written; what is None is found by looking."""

    separator: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class PlainText:
    """A file in UTF-8 that polars can read, and how it is written."""

    path: Path
    separator: str
    header: bool


@contextmanager
def plain_text(path: Path, suffix: str, wanted: TextFormat) -> Iterator[PlainText]:
    """The file itself where it is plain UTF-8, else a copy that is, while it is used.

    ``suffix`` is what the name ends in without that of the compression.
    """
    encoding = _encoding(path)
    # Windows deletes nothing that polars still has mapped.
    with tempfile.TemporaryDirectory(
        prefix="scedae-", ignore_cleanup_errors=True
    ) as folder:
        if encoding != "utf-8" or path.suffix.lower() in COMPRESSED:
            copy = Path(folder) / f"table{suffix}"
            with _unpacked(path) as raw, copy.open("wb") as out:
                decoded = codecs.EncodedFile(raw, "utf-8", encoding, errors="replace")
                shutil.copyfileobj(raw if encoding == "utf-8" else decoded, out, _HEAD)
            path = copy
        yield _look(path, suffix, wanted)


def _opened(path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.open(path)  # type: ignore[return-value] # reads as any other
    if suffix == ".zst":
        pyarrow = import_extra("pyarrow", "a .zst file", "tables")
        return pyarrow.input_stream(str(path), compression="zstd")
    return path.open("rb")


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file; one error wherever those of a compressed one are wrong."""
    try:
        with _opened(path) as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system, not of the file
        raise ValueError(f"it cannot be unpacked: {error}.") from error


def _encoding(path: Path) -> str:
    """By the mark at the beginning; else UTF-8, or what Windows wrote before it."""
    with _unpacked(path) as file:
        head = file.read(_HEAD)
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        raise ValueError("it holds no text, but binary data.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _look(path: Path, suffix: str, wanted: TextFormat) -> PlainText:
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = [line for line in islice(file, _LINES) if line.strip()]
    separator = wanted.separator
    if separator is None:
        separator = "\t" if suffix == ".tsv" else _separator(lines)
    header = wanted.header
    if header is None:
        header = _has_header(_cells(lines[:2], separator))
    return PlainText(path, separator, header)


def _separator(lines: list[str]) -> str:
    """The mark that cuts most lines into one and the same number of fields, over 1."""
    best, most = SEPARATORS[0], (0, 0)
    for mark in SEPARATORS:
        widths = Counter(len(cells) for cells in _cells(lines, mark)) or {0: 0}
        width, count = max(widths.items(), key=lambda each: (each[1], each[0]))
        if width > 1 and (count, width) > most:
            best, most = mark, (count, width)
    return best


def _cells(lines: list[str], separator: str) -> list[list[str]]:
    try:
        return [cells for cells in csv.reader(lines, delimiter=separator) if cells]
    except csv.Error:  # a field of over 128 kB: this is not what separates them
        return []


def _has_header(lines: list[list[str]]) -> bool:
    """Whether the first line names the columns.

    It does not, if it has a number wherever the second line has one, unless these
    numbers count the columns or are years.
    """
    if not lines:
        return True
    first = lines[0]
    places = [place for place, cell in enumerate(first) if _is_number(cell)]
    if not places:
        return True
    if len(lines) > 1:
        second = {place for place, cell in enumerate(lines[1]) if _is_number(cell)}
        gaps = {i for i, cell in enumerate(first) if cell.strip().lower() in GAP_WORDS}
        if not second <= {*places, *gaps}:
            return True
    numbers = [first[place].strip() for place in places]
    if not all(number.isdecimal() for number in numbers):
        return False
    whole = [int(number) for number in numbers]
    counts = whole == list(range(whole[0], whole[0] + len(whole))) and len(whole) > 1
    return counts or all(number in _YEARS for number in whole)


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().replace(",", "."))
    except ValueError:
        return False
    return cell.strip().lower() not in GAP_WORDS
