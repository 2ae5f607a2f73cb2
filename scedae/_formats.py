"""Files that hold rows: how each format is opened, and what is said if it cannot be.

Rows of numbers (``_rows``), tables (``_tables``) and the command open files by the same
functions. Errors begin with "it": who asked knows the name, and puts it before.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

# What a library says of a mistake that people make, and what they can do about it.
_SAID_WELL = {
    "more fields than defined": "a line has more fields than the first one",
    "utf-8": "it is not UTF-8 throughout; save it as UTF-8",
    "utf8": "it is not UTF-8 throughout; save it as UTF-8",
}


def import_extra(module: str, what: str, extra: str) -> Any:
    """A package that only some files need."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        raise ImportError(
            f"{what} needs {name}: pip install 'scedae[{extra}]'."
        ) from error


class UnreadableFileError(ValueError):
    """What is wrong with a file, as one line about "it"."""


@contextmanager
def library_errors(kind: type[Exception] = Exception) -> Iterator[None]:
    """What a library says of a damaged file, as one line; not that it is not there."""
    try:
        yield
    except (MemoryError, UnreadableFileError):
        raise  # said already
    except (kind, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system, not of what stands in the file
        lines = str(error).strip().splitlines() or [type(error).__name__]
        said = (
            better for mark, better in _SAID_WELL.items() if mark in lines[0].lower()
        )
        reason = next(said, lines[0].rstrip("."))
        raise UnreadableFileError(f"it cannot be read: {reason}.") from error


@contextmanager
def named(place: str) -> Iterator[None]:
    """Errors about "it" begin with its name."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def require_matrix(shape: Sequence[int], dtype: np.dtype) -> None:
    """Rows of numbers, at least one of each."""
    if len(shape) != 2:
        raise ValueError(f"it has shape {tuple(shape)}; rows need two dimensions.")
    if dtype.kind not in "buif":
        raise ValueError(f"it holds {dtype}, not numbers.")
    if 0 in shape:
        raise ValueError(f"it has shape {tuple(shape)}: there is nothing in it.")


def open_arrays(path: Path) -> np.memmap | dict[str, np.ndarray]:
    """The array of an .npy file, mapped; those of an .npz file by name, read.

    Nothing is unpickled.
    """
    with library_errors():
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(found, np.memmap):
            return found
        with found:
            return dict(found)


def parquet_files(path: Path) -> list[Path]:
    """The file itself, or those of a folder in the order of their names."""
    found = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
    return [file for file in found if file.suffix == ".parquet"]


def open_parquet(file: Path) -> Any:
    """A Parquet file, of which row groups can be read."""
    parquet = import_extra("pyarrow.parquet", "Parquet", "files")
    with library_errors():
        return parquet.ParquetFile(file)
