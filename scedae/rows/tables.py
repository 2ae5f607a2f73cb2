"""Tables of numbers on disk, by path: .npy files, Zarr arrays, Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

_KINDS = "an .npy file, a Zarr array, or a Parquet file or folder"


class Table(Protocol):
    """A matrix of which rows can be read; each reading gives fresh memory."""

    shape: tuple[int, int]
    dtype: np.dtype
    place: str  # for messages

    @property
    def names(self) -> Sequence[str] | None: ...

    def read(self, start: int, stop: int) -> np.ndarray: ...


def open_table(path: Path) -> Table:
    """The table a path names, or one clear error."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}.")
    if path.suffix == ".npy":
        return NpyTable(path)
    if any((path / name).exists() for name in ("zarr.json", ".zarray")):
        return ZarrTable(path)
    files = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
    if files and files[0].suffix == ".parquet":
        return ParquetTable(path, files)
    raise ValueError(f"{str(path)!r} is not {_KINDS}.")


def _require_matrix(place: str, shape: Sequence[int], dtype: np.dtype) -> None:
    if len(shape) != 2:
        raise ValueError(f"{place} has shape {tuple(shape)}; rows need two dimensions.")
    if dtype.kind not in "buif":
        raise ValueError(f"{place} holds {dtype}, not numbers.")
    if 0 in shape:
        raise ValueError(f"{place} has shape {tuple(shape)}: there is nothing in it.")


class NpyTable:
    """An .npy file, read and not mapped: mapped pages count as memory in use."""

    names: Sequence[str] | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.place = repr(str(path))
        header = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(header, np.memmap):
            raise ValueError(f"{self.place} is not {_KINDS}.")
        _require_matrix(self.place, header.shape, header.dtype)
        if not header.flags.c_contiguous:
            raise ValueError(
                f"{self.place} is stored column after column (Fortran order), so rows "
                "cannot be read: save np.ascontiguousarray of it."
            )
        self.shape: tuple[int, int] = header.shape
        self.dtype = header.dtype
        self._offset = header.offset

    def read(self, start: int, stop: int) -> np.ndarray:
        width = self.shape[1]
        count = (stop - start) * width
        offset = self._offset + start * width * self.dtype.itemsize
        numbers = np.fromfile(self._path, self.dtype, count, offset=offset)
        if len(numbers) < count:
            raise EOFError(f"the file ends after {len(numbers)} of {count} numbers")
        return numbers.reshape(-1, width)


class MappedTable:
    """An array that is mapped into memory already."""

    names: Sequence[str] | None = None

    def __init__(self, array: np.memmap) -> None:
        self.place = f"the mapped file {str(array.filename)!r}"
        _require_matrix(self.place, array.shape, array.dtype)
        self.shape: tuple[int, int] = array.shape
        self.dtype = array.dtype
        self._array = array

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.array(self._array[start:stop])


class ZarrTable:
    """A Zarr array in a folder."""

    names: Sequence[str] | None = None

    def __init__(self, path: Path) -> None:
        zarr = _import("zarr", "a Zarr array")
        self.place = repr(str(path))
        self._array = zarr.open(path, mode="r")
        if not hasattr(self._array, "shape"):
            raise ValueError(
                f"{self.place} is a Zarr group; name one of its arrays, e.g. "
                f"{str(path / 'rows')!r}."
            )
        self.shape: tuple[int, int] = tuple(self._array.shape)
        self.dtype = np.dtype(self._array.dtype)
        _require_matrix(self.place, self.shape, self.dtype)

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.asarray(self._array[start:stop])


class ParquetTable:
    """Parquet files, one after the other in the order of their names."""

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self._parquet = _import("pyarrow.parquet", "Parquet")
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
        _require_matrix(self.place, self.shape, self.dtype)
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


def _import(module: str, what: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        raise ImportError(
            f"{what} needs {name}: pip install 'scedae[files]'."
        ) from error
