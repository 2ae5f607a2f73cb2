"""Parquet, for pyarrow (row groups of numbers) and for polars (frames of anything)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scedae._formats.reading import import_extra, library_errors

if TYPE_CHECKING:
    import polars as pl

SUFFIX = ".parquet"


def parquet_files(path: Path) -> list[Path]:
    """The file itself, or those of a folder in the order of their names."""
    found = sorted(path.glob(f"**/*{SUFFIX}")) if path.is_dir() else [path]
    return [file for file in found if file.suffix == SUFFIX]


def open_parquet(file: Path) -> Any:
    """One file, of which row groups can be read."""
    parquet = import_extra("pyarrow.parquet", "Parquet", "files")
    with library_errors():
        return parquet.ParquetFile(file)


def scan_parquet(file: Path) -> pl.LazyFrame:
    """One file as a lazy frame; a star in its name is a star."""
    import polars as pl

    with library_errors():
        return pl.scan_parquet(file, glob=False)
