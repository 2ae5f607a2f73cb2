"""Parquet and Arrow files, whole or in batches, read by pyarrow.

polars reads them too, but one wrong bit can make it end the whole process (an
allocation that no error can follow). pyarrow raises an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from scedae._formats import (
    UnreadableFileError,
    import_extra,
    library_errors,
    open_parquet,
)

ARROW_SUFFIXES = (".parquet", ".feather", ".arrow", ".ipc")
_MARK = b"ARROW1"


class ArrowTable:
    """A file whose columns have types of Arrow."""

    def __init__(self, file: Any) -> None:
        """``file`` has a ``schema`` and yields batches by ``each(columns, height)``."""
        self._file = file
        self.names: list[str] = list(file.schema.names)

    def read(self) -> pl.DataFrame:
        whole = list(self.batches(self.names, 1 << 20))
        if not whole:
            return _frame(_pyarrow().Table.from_batches([], self._file.schema))
        return pl.concat(whole)

    def batches(self, columns: Sequence[str], height: int) -> Iterator[pl.DataFrame]:
        """The rows of some columns, at most ``height`` at a time."""
        with _one_error():
            for batch in self._file.each(columns, height):
                # Indices and lengths are within their bounds: nobody checks later.
                batch.validate(full=True)
                yield _frame(batch.select(columns))


class _Parquet:
    def __init__(self, path: Path) -> None:
        self._file = open_parquet(path)
        self.schema = self._file.schema_arrow

    def each(self, columns: Sequence[str], height: int) -> Iterator[Any]:
        return self._file.iter_batches(height, columns=list(columns))

    def close(self) -> None:
        self._file.close()


class _Arrow:
    def __init__(self, path: Path) -> None:
        import pyarrow.ipc

        with path.open("rb") as file:
            if file.read(len(_MARK)) != _MARK:
                raise UnreadableFileError("it cannot be read: it is no Arrow file.")
        # Not mapped into memory: whoever shortens the file would end this process.
        self._source = pyarrow.OSFile(str(path))
        self._file = pyarrow.ipc.open_file(self._source)
        self.schema = self._file.schema

    def each(self, columns: Sequence[str], height: int) -> Iterator[Any]:
        for number in range(self._file.num_record_batches):
            batch = self._file.get_batch(number)
            for start in range(0, batch.num_rows, height):
                yield batch.slice(start, height)

    def close(self) -> None:
        self._source.close()


@contextmanager
def arrow_table(path: Path) -> Iterator[ArrowTable]:
    """A file .parquet, .feather, .arrow or .ipc."""
    _pyarrow()
    with _one_error():
        file = _Parquet(path) if path.suffix.lower() == ".parquet" else _Arrow(path)
        table = ArrowTable(file)
    try:
        yield table
    finally:
        file.close()


def _frame(batch: Any) -> pl.DataFrame:
    """Arrow's rows as those of polars, by their types alone.

    What else a file says of its columns is for the program that wrote it.
    """
    pyarrow = _pyarrow()
    schema = pyarrow.schema([(field.name, field.type) for field in batch.schema])
    made: Any = pl.from_arrow(pyarrow.table(batch.columns, schema=schema))
    return made


@contextmanager
def _one_error() -> Iterator[None]:
    """Whatever is wrong with a file: one error that says so."""
    try:
        with library_errors():
            yield
    # Of a length that is wrong; and of polars, where it meets what it never expects.
    except (MemoryError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnreadableFileError(f"it cannot be read: {reason}.") from error


def _pyarrow() -> Any:
    return import_extra("pyarrow", "a Parquet or Arrow file", "tables")
