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
        self._ends: ExitStack | None = None
        self._file: IO[bytes]
        if path is None:
            self._file = tempfile.TemporaryFile(prefix="scedae-")  # noqa: SIM115
        else:
            self._ends = ExitStack()
            self._file = self._ends.enter_context(whole_file(path)).open("w+b")
        header = {
            "descr": np.lib.format.dtype_to_descr(np.dtype(result.dtype)),
            "fortran_order": False,
            "shape": self._shape,
        }
        np.lib.format.write_array_header_1_0(self._file, header)
        self._file.flush()
        self._offset = self._file.tell()

    def write(self, lines: np.ndarray) -> None:
        np.ascontiguousarray(lines, self._result.dtype).tofile(self._file)

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()  # the map keeps what it shows
        if self._ends is not None:
            self._ends.__exit__(kind, error, trace)


def write_result(array: np.ndarray, path: Path) -> np.ndarray:
    """An array in memory, written at once and mapped."""
    width = array.shape[1] if array.ndim == 2 else None
    with ResultFile(Result(array.dtype.type, width), len(array), path) as file:
        file.write(array)
        return file.mapped()
