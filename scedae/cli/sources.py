"""What DATA on the command line names: a file, standard input, or a data set."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import weakref
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from scedae import datasets
from scedae._tables.table_files import SUFFIXES, suffix_of
from scedae.cli.messages import InputError, errors_of

STDIN = "-"
ARRAY_SUFFIXES = (".npy", ".npz")
CELLS_SUFFIX = ".h5ad"
KINDS = (*ARRAY_SUFFIXES, *SUFFIXES, CELLS_SUFFIX)


@dataclass(frozen=True)
class Source:
    """A file that is there, standard input, or the name of a data set."""

    given: str

    def __post_init__(self) -> None:
        if self.is_dataset:
            return
        kinds = ", ".join(KINDS)
        if self.path.is_dir():
            raise InputError(f"{self.given} is a folder; give one file ({kinds}).")
        if not self.path.exists():
            raise InputError(
                f"there is no file {self.given}, and no data set of that name "
                f"({', '.join(datasets.NAMES)})."
            )
        if self.suffix not in KINDS:
            raise InputError(f"{self.given} is none of the kinds {kinds}.")
        if self.path.stat().st_size == 0:
            raise InputError(f"{self.name} is empty.")

    @property
    def is_dataset(self) -> bool:
        # A file that happens to have such a name is given as ./digits
        return self.given in datasets.NAMES

    @property
    def name(self) -> str:
        """For messages."""
        return "standard input" if self.given == STDIN else self.given

    @cached_property
    def path(self) -> Path:
        return self._caught.path if self.given == STDIN else Path(self.given)

    @cached_property
    def _caught(self) -> _StandardInput:
        return _StandardInput()

    @property
    def files(self) -> list[Path]:
        """What a command reads, and therefore must not write."""
        return [] if self.is_dataset else [self.path]

    @property
    def suffix(self) -> str:
        """Of the kind of file: ".csv" of "rows.csv.gz"."""
        return suffix_of(self.path)

    @property
    def is_frame(self) -> bool:
        """Whether columns have names."""
        return not self.is_dataset and self.suffix in SUFFIXES

    @property
    def location(self) -> str:
        """What finds it again from another folder."""
        if self.is_dataset or self.given == STDIN:
            return self.given
        return str(self.path.resolve())

    @cached_property
    def dataset(self) -> tuple[np.ndarray, np.ndarray]:
        with errors_of(self.given):
            return datasets.load_by_name(self.given)

    def sha256(self) -> str:
        """Of the bytes of a file; of the numbers X of a data set."""
        if self.is_dataset:
            X = np.ascontiguousarray(self.dataset[0])
            return hashlib.sha256(X.data).hexdigest()
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


class _StandardInput:
    """What came by a pipe, as a file of the kind that its first bytes show."""

    def __init__(self) -> None:
        content = sys.stdin.buffer.read()
        kinds = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy"}
        packed = {b"\x1f\x8b": ".csv.gz", b"\x28\xb5\x2f\xfd": ".csv.zst"}
        marks = {**kinds, **packed, b"PK\x03\x04": ".xlsx"}
        found = (kind for mark, kind in marks.items() if content.startswith(mark))
        folder = tempfile.mkdtemp(prefix="scedae-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder) / f"stdin{next(found, '.csv')}"
        self.path.write_bytes(content)
