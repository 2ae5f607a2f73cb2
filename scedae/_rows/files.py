"""Matrices on disk of which rows are read: .npy files, mapped arrays, Zarr arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from scedae._formats import (
    import_extra,
    library_errors,
    named,
    open_arrays,
    require_matrix,
)


class RowTable(Protocol):
    """A matrix of which rows can be read; each reading gives fresh memory."""

    shape: tuple[int, int]
    dtype: np.dtype
    place: str  # for messages

    @property
    def names(self) -> Sequence[str] | None: ...

    def read(self, start: int, stop: int) -> np.ndarray: ...


class NpyTable:
    """An .npy file, read and not mapped: mapped pages count as memory in use."""

    names: Sequence[str] | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.place = repr(str(path))
        with named(self.place):
            header = open_arrays(path)
            if not isinstance(header, np.memmap):
                raise ValueError("it is an .npz archive; save one array as .npy.")
            require_matrix(header.shape, header.dtype)
            if not header.flags.c_contiguous:
                raise ValueError(
                    "it is stored column after column (Fortran order), so rows cannot "
                    "be read: save np.ascontiguousarray of it."
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
        with named(self.place):
            require_matrix(array.shape, array.dtype)
        self.shape: tuple[int, int] = array.shape
        self.dtype = array.dtype
        self._array = array

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.array(self._array[start:stop])


class ZarrTable:
    """A Zarr array in a folder."""

    names: Sequence[str] | None = None

    def __init__(self, path: Path) -> None:
        zarr = import_extra("zarr", "a Zarr array", "files")
        self.place = repr(str(path))
        with named(self.place):
            with library_errors():
                self._array = zarr.open(path, mode="r")
            if not hasattr(self._array, "shape"):
                raise ValueError(
                    "it is a Zarr group; name one of its arrays, e.g. "
                    f"{str(path / 'rows')!r}."
                )
            self.shape: tuple[int, int] = tuple(self._array.shape)
            self.dtype = np.dtype(self._array.dtype)
            require_matrix(self.shape, self.dtype)

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.asarray(self._array[start:stop])
