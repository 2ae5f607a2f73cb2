"""Tables of numbers on disk, by path: .npy files, Zarr arrays, Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np

from scedae._rows.extras import import_extra

KINDS = "an .npy file, a Zarr array, or a Parquet file or folder"


class RowTable(Protocol):
    """A matrix of which rows can be read; each reading gives fresh memory."""

    shape: tuple[int, int]
    dtype: np.dtype
    place: str  # for messages

    @property
    def names(self) -> Sequence[str] | None: ...

    def read(self, start: int, stop: int) -> np.ndarray: ...


def require_matrix(place: str, shape: Sequence[int], dtype: np.dtype) -> None:
    if len(shape) != 2:
        raise ValueError(f"{place} has shape {tuple(shape)}; rows need two dimensions.")
    if dtype.kind not in "buif":
        raise ValueError(f"{place} holds {dtype}, not numbers.")
    if 0 in shape:
        raise ValueError(f"{place} has shape {tuple(shape)}: there is nothing in it.")


@contextmanager
def _errors_of(place: str) -> Iterator[None]:
    """What a library says of a damaged file, in one line that names it."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise ValueError(f"{place} is damaged, or is not {KINDS}: {reason}") from error


class NpyTable:
    """An .npy file, read and not mapped: mapped pages count as memory in use."""

    names: Sequence[str] | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.place = repr(str(path))
        with _errors_of(self.place):
            header = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(header, np.memmap):
            raise ValueError(f"{self.place} is not {KINDS}.")
        require_matrix(self.place, header.shape, header.dtype)
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
        require_matrix(self.place, array.shape, array.dtype)
        self.shape: tuple[int, int] = array.shape
        self.dtype = array.dtype
        self._array = array

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.array(self._array[start:stop])


class ZarrTable:
    """A Zarr array in a folder."""

    names: Sequence[str] | None = None

    def __init__(self, path: Path) -> None:
        zarr = import_extra("zarr", "a Zarr array")
        self.place = repr(str(path))
        with _errors_of(self.place):
            self._array = zarr.open(path, mode="r")
        if not hasattr(self._array, "shape"):
            raise ValueError(
                f"{self.place} is a Zarr group; name one of its arrays, e.g. "
                f"{str(path / 'rows')!r}."
            )
        self.shape: tuple[int, int] = tuple(self._array.shape)
        self.dtype = np.dtype(self._array.dtype)
        require_matrix(self.place, self.shape, self.dtype)

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.asarray(self._array[start:stop])
