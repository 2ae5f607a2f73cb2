"""One reader for each kind of file that holds a table with names of columns.

Cells of text files stay text here: what they are is decided by the rule for columns,
not by the file they came from.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import polars as pl

from scedae._formats import import_extra, library_errors, named
from scedae._tables.arrow_files import ARROW_SUFFIXES, arrow_table
from scedae._tables.text_files import COMPRESSED, PlainText, TextFormat, plain_text

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT_SUFFIXES, *ARROW_SUFFIXES, ".xlsx")


class FileTable(Protocol):
    """A file that is read whole, or some of its columns in batches."""

    names: list[str]

    def read(self) -> pl.DataFrame: ...

    def batches(self, columns: Sequence[str], height: int) -> Iterator[pl.DataFrame]:
        """The rows of some columns, about ``height`` at a time, in their order."""
        ...


class _Scan:
    """A frame that polars has not read yet."""

    def __init__(self, scan: pl.LazyFrame) -> None:
        self._scan = scan
        with library_errors():
            self.names = scan.collect_schema().names()

    def read(self) -> pl.DataFrame:
        with library_errors():
            return self._scan.collect()

    def batches(self, columns: Sequence[str], height: int) -> Iterator[pl.DataFrame]:
        chosen = self._scan.select(columns)
        with library_errors():
            yield from chosen.collect_batches(chunk_size=height, maintain_order=True)


def suffix_of(path: Path) -> str:
    """What kind of file it is: ".csv" of "rows.csv.gz"."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


def read_table(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> pl.DataFrame:
    """A file as a polars frame, with the cells of text files as they stand there.

    Parameters
    ----------
    path : str or path
        .csv, .tsv or .txt (also .gz and .zst of them; UTF-8, UTF-16 or cp1252),
        .parquet, .feather, .arrow, .ipc or .xlsx.
    separator : str, default=None
        What separates the columns of a text file; None looks at its first lines.
    header : bool, default=None
        Whether its first line names the columns; None looks at it, and takes the first
        line of a spreadsheet for names.
    sheet : str, default=None
        Which sheet of an .xlsx file; None takes the first, and warns if there are more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scedae import read_table
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name;age\\nAda;36\\nGrace;85\\n")
    >>> frame = read_table(path)
    >>> frame.columns, frame.shape
    (['name', 'age'], (2, 2))
    """
    with named(repr(str(path))):
        return whole_table(Path(path), TextFormat(separator, header), sheet)


def whole_table(path: Path, form: TextFormat, sheet: str | None) -> pl.DataFrame:
    """The same, with errors about "it"."""
    with file_table(path, form, sheet) as table:
        frame = table.read()
    if frame.height == 0:
        raise ValueError("it has column names, but no rows.")
    return frame


@contextmanager
def file_table(
    path: Path, form: TextFormat, sheet: str | None = None
) -> Iterator[FileTable]:
    """A file, to be read inside."""
    suffix = suffix_of(path)
    if suffix in TEXT_SUFFIXES:
        with plain_text(path, suffix, form) as text:
            yield _Scan(_scan_text(text))
    elif suffix in ARROW_SUFFIXES:
        with arrow_table(path) as table:
            yield table
    elif suffix == ".xlsx":
        yield _Scan(_read_excel(path, form, sheet).lazy())
    else:
        raise ValueError(f"it is none of the kinds {', '.join(SUFFIXES)}.")


def _scan_text(text: PlainText) -> pl.LazyFrame:
    with library_errors():
        scan = pl.scan_csv(
            text.path,
            separator=text.separator,
            has_header=text.header,
            infer_schema=False,
            glob=False,  # a star in a name is a star
        )
        names = scan.collect_schema().names()
    unnamed = {
        name: f"column_{place}"
        for place, name in enumerate(names)
        if not name.strip() or name.startswith("_duplicated")
    }
    if not unnamed:
        return scan
    return scan.select(pl.col(name).alias(unnamed.get(name, name)) for name in names)


def _read_excel(path: Path, form: TextFormat, sheet: str | None) -> pl.DataFrame:
    fastexcel = import_extra("fastexcel", "an .xlsx file", "tables")
    with library_errors():
        sheets = fastexcel.read_excel(path).sheet_names
    listed = ", ".join(map(repr, sheets))
    if sheet is None:
        sheet = sheets[0]
        if len(sheets) > 1:
            message = f"{path.name} has sheets {listed}: {sheet!r} is read."
            warnings.warn(message, UserWarning, stacklevel=2)
    elif sheet not in sheets:
        raise ValueError(f"it has no sheet {sheet!r}; it has {listed}.")
    header = form.header is not False
    with library_errors():
        frame = pl.read_excel(path, sheet_name=sheet, has_header=header)
    return frame
