"""What DATA on the command line names: a file, or a data set of ``scedae.datasets``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from scedae import datasets
from scedae.cli.messages import InputError, errors_of

FRAME_SUFFIXES = (".csv", ".tsv", ".parquet")
ARRAY_SUFFIXES = (".npy", ".npz")


@dataclass(frozen=True)
class Source:
    """A file that is there, or the name of a data set."""

    given: str

    def __post_init__(self) -> None:
        if self.is_dataset:
            return
        kinds = ", ".join((*ARRAY_SUFFIXES, *FRAME_SUFFIXES))
        if self.path.is_dir():
            raise InputError(f"{self.given} is a folder; give one file ({kinds}).")
        if not self.path.exists():
            raise InputError(
                f"there is no file {self.given}, and no data set of that name "
                f"({', '.join(datasets.NAMES)})."
            )
        if self.suffix not in (*ARRAY_SUFFIXES, *FRAME_SUFFIXES):
            raise InputError(f"{self.given} is none of the kinds {kinds}.")
        if self.path.stat().st_size == 0:
            raise InputError(f"{self.given} is empty.")

    @property
    def is_dataset(self) -> bool:
        # A file that happens to have such a name is given as ./digits
        return self.given in datasets.NAMES

    @property
    def path(self) -> Path:
        return Path(self.given)

    @property
    def files(self) -> list[Path]:
        """What a command reads, and therefore must not write."""
        return [] if self.is_dataset else [self.path]

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()

    @property
    def is_frame(self) -> bool:
        """Whether columns have names."""
        return not self.is_dataset and self.suffix in FRAME_SUFFIXES

    @property
    def location(self) -> str:
        """What finds it again from another folder."""
        return self.given if self.is_dataset else str(self.path.resolve())

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
