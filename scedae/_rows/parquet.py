"""Parquet files as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from scedae._formats import named, open_parquet, require_matrix


class ParquetTable:
    """Parquet files, one after the other in the order of their names.

    All have the same columns, in any order. Where types differ, numbers are read in
    one that holds all of them.
    """

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self.place = repr(str(path))
        parts = {}
        for file in files:
            with named(repr(str(file))):
                parts[file] = open_parquet(file)
        self._groups = [
            (file, group, part.metadata.row_group(group).num_rows)
            for file, part in parts.items()
            for group in range(part.metadata.num_row_groups)
        ]
        self._ends = np.cumsum([n_rows for _, _, n_rows in self._groups])
        schemas = {file: part.schema_arrow for file, part in parts.items()}
        self.names: Sequence[str] = list(schemas[files[0]].names)
        types = [_types(file, schemas[file], self.names) for file in files]
        self.dtype = np.result_type(*(dtype for part in types for dtype in part))
        self.shape = (int(self._ends[-1]) if len(self._ends) else 0, len(self.names))
        with named(self.place):
            require_matrix(self.shape, self.dtype)
        # Blocks are smaller than row groups: the last one read is kept.
        self._group = lru_cache(1)(self._read_group)

    def _read_group(self, number: int) -> np.ndarray:
        file, group, n_rows = self._groups[number]
        table = open_parquet(file).read_row_group(group)
        # By name: each file has its own order. A missing value becomes NaN, which is
        # then named with its row.
        columns = [_numbers(table.column(name)) for name in self.names]
        dtype = np.result_type(self.dtype, *(column.dtype for column in columns))
        rows = np.empty((n_rows, len(self.names)), dtype)
        for i, column in enumerate(columns):
            rows[:, i] = column
        return rows

    def read(self, start: int, stop: int) -> np.ndarray:
        first, last = np.searchsorted(self._ends, (start, stop - 1), side="right")
        parts = []
        for number in range(int(first), int(last) + 1):
            before = int(self._ends[number]) - self._groups[number][2]
            parts.append(self._group(number)[max(start - before, 0) : stop - before])
        return np.concatenate(parts)


def _numbers(column: Any) -> np.ndarray:
    """A column as an array; numpy has no missing booleans, so these become numbers."""
    import pyarrow

    if column.null_count:
        column = column.cast(pyarrow.float64(), safe=False)
    return column.to_numpy()


def _types(file: Path, schema: Any, names: Sequence[str]) -> list[np.dtype]:
    """The types of the columns of one file, or an error that names what is wrong."""
    _require_names(file, schema.names, names)
    kinds = dict(zip(schema.names, schema.types, strict=True))
    text = [name for name, kind in kinds.items() if not _is_number(kind)]
    if text:
        raise ValueError(
            f"{str(file)!r} has columns that are not numeric: {', '.join(text)}. "
            "Drop them, or encode them as numbers first."
        )
    return [np.dtype(kind.to_pandas_dtype()) for kind in schema.types]


def _require_names(file: Path, found: Sequence[str], names: Sequence[str]) -> None:
    if len(set(found)) < len(found):
        twice = sorted({name for name in found if found.count(name) > 1})
        raise ValueError(f"{str(file)!r} has columns twice: {', '.join(twice)}.")
    if missing := [name for name in names if name not in found]:
        raise ValueError(
            f"{str(file)!r} lacks columns that the first file has: "
            f"{', '.join(missing)}. All files of a folder need the same columns."
        )
    if more := [name for name in found if name not in names]:
        raise ValueError(
            f"{str(file)!r} has columns that the first file lacks: {', '.join(more)}. "
            "All files of a folder need the same columns."
        )


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    tests = (types.is_integer, types.is_floating, types.is_boolean)
    return any(test(kind) for test in tests)
