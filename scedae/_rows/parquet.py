"""Parquet files as one table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from scedae._rows.extras import import_extra
from scedae._rows.files import require_matrix


class ParquetTable:
    """Parquet files, one after the other in the order of their names."""

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self._parquet = import_extra("pyarrow.parquet", "Parquet")
        self.place = repr(str(path))
        self._groups = [
            (file, group, part.metadata.row_group(group).num_rows)
            for file in files
            for part in [self._parquet.ParquetFile(file)]
            for group in range(part.metadata.num_row_groups)
        ]
        self._ends = np.cumsum([n_rows for _, _, n_rows in self._groups])
        schema = self._parquet.read_schema(files[0])
        self.names: Sequence[str] = list(schema.names)
        kinds = dict(zip(schema.names, schema.types, strict=True))
        text = [name for name, kind in kinds.items() if not _is_number(kind)]
        if text:
            raise ValueError(
                f"{self.place} has columns that are not numeric: {', '.join(text)}. "
                "Drop them, or encode them as numbers first."
            )
        self.dtype = np.result_type(*(kind.to_pandas_dtype() for kind in schema.types))
        self.shape = (int(self._ends[-1]) if len(self._ends) else 0, len(schema.names))
        require_matrix(self.place, self.shape, self.dtype)
        # Blocks are smaller than row groups: the last one read is kept.
        self._group = lru_cache(1)(self._read_group)

    def _read_group(self, number: int) -> np.ndarray:
        file, group, n_rows = self._groups[number]
        table = self._parquet.ParquetFile(file).read_row_group(
            group, columns=self.names
        )
        # A missing value becomes NaN, which is then named with its row.
        missing = any(column.null_count for column in table.columns)
        dtype = np.dtype(np.float64) if missing else self.dtype
        rows = np.empty((n_rows, len(self.names)), dtype)
        for i, column in enumerate(table.columns):
            rows[:, i] = column.to_numpy()
        return rows

    def read(self, start: int, stop: int) -> np.ndarray:
        first, last = np.searchsorted(self._ends, (start, stop - 1), side="right")
        parts = []
        for number in range(int(first), int(last) + 1):
            before = int(self._ends[number]) - self._groups[number][2]
            parts.append(self._group(number)[max(start - before, 0) : stop - before])
        return np.concatenate(parts)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    tests = (types.is_integer, types.is_floating, types.is_boolean)
    return any(test(kind) for test in tests)
