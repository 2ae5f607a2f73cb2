"""Results with a line for each row, as files that are mapped into memory."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from scedae._rows.interface import Result
from scedae._whole_file import whole_file


class ResultFile:
    """An .npy file written from its first line to its last, then mapped.

    Without a path it is a temporary file that vanishes with the array. With one, it
    appears there when it is complete, and not at all if something fails.
    """

    def __init__(self, result: Result, n_rows: int, path: Path | None) -> None:
        self._result, self._shape = result, result.shape(n_rows)
        self._path = path
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        with self._ends as ends:
            self._file = ends.enter_context(self._open(ends))
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

    def mapped(self) -> np.ndarray:
        """The complete array; changes to it stay in memory."""
        self._file.flush()
        return np.memmap(
            self._file,
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
        # The file is closed (the map keeps what it shows), then it gets its name.
        self._ends.__exit__(kind, error, trace)


def write_result(array: np.ndarray, path: Path) -> np.ndarray:
    """An array in memory, written at once and mapped."""
    width = array.shape[1] if array.ndim == 2 else None
    with ResultFile(Result(array.dtype.type, width), len(array), path) as file:
        file.write(array)
        return file.mapped()
