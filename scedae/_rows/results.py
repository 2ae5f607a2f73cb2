"""Results with a line for each row, as files that are mapped into memory."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from scedae._rows.interface import Result
from scedae._whole_file import whole_file

# Windows gives no other name to a file that is open, and a map keeps it open.
_MAPPED_FILES_GET_NAMES = os.name != "nt"


class ResultFile:
    """An .npy file written from its first line to its last, then mapped.

    Without a path it is a temporary file that vanishes with the array. With one, it
    appears there when it is complete, and not at all if something fails.

    ``array`` is the complete array, once the file is left; changes stay in memory.
    """

    array: np.ndarray

    def __init__(self, result: Result, n_rows: int, path: Path | None) -> None:
        self._result, self._shape = result, result.shape(n_rows)
        self._path = path
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        with self._ends as ends:
            # What comes last ends first: the file is closed, then it gets its name.
            later = self._path is not None and not _MAPPED_FILES_GET_NAMES
            if later:
                ends.push(self._map_by_name)
            self._file = ends.enter_context(self._open(ends))
            if not later:
                ends.push(self._map_open)
            header = {
                "descr": np.lib.format.dtype_to_descr(np.dtype(self._result.dtype)),
                "fortran_order": False,
                "shape": self._shape,
            }
            np.lib.format.write_array_header_1_0(self._file, header)
            self._file.flush()
            self._offset = self._file.tell()
            self._ends = ends.pop_all()  # nothing has failed: they end with the file
        return self

    def _open(self, ends: ExitStack) -> IO[bytes]:
        if self._path is None:
            return tempfile.TemporaryFile(prefix="scedae-")
        return ends.enter_context(whole_file(self._path)).open("w+b")

    def write(self, lines: np.ndarray) -> None:
        # Not by tofile, which does not notice a disk that is full.
        self._file.write(np.ascontiguousarray(lines, self._result.dtype).data)

    def _map_open(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self._file.flush()
            self._map(self._file)

    def _map_by_name(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None and self._path is not None:
            with self._path.open("rb") as file:
                self._map(file)

    def _map(self, file: IO[bytes]) -> None:
        self.array = np.memmap(
            file,
            self._result.dtype,
            mode="c",
            offset=self._offset,
            shape=self._shape,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.__exit__(kind, error, trace)


def write_result(array: np.ndarray, path: Path) -> np.ndarray:
    """An array in memory, written at once and mapped."""
    width = array.shape[1] if array.ndim == 2 else None
    with ResultFile(Result(array.dtype.type, width), len(array), path) as file:
        file.write(array)
    return file.array
