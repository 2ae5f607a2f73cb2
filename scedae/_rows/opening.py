"""From what a user passes to rows that do not lie in memory, if they do not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scedae._device import resolve_device
from scedae._formats import parquet_files
from scedae._rows.files import MappedTable, NpyTable, RowTable, ZarrTable
from scedae._rows.parquet import ParquetTable
from scedae._rows.stored import StoredRows
from scedae._rows.stream import Stream, fits_in_memory


def is_elsewhere(X: Any) -> bool:
    """Whether X names rows, or maps them, instead of holding them."""
    return isinstance(X, str | os.PathLike | np.memmap) or _is_dask(X)


def _is_dask(X: Any) -> bool:
    # By name: whoever passes Dask objects has imported Dask, others need not have it.
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def open_rows(X: Any, device: torch.device | str) -> Stream:
    """Rows of a path, a mapped array or a Dask collection.

    ``device`` is where they are worked on; on a cluster each worker looks it up.
    """
    if _is_dask(X):
        try:
            from scedae._rows.dask_rows import open_dask
        except ImportError as error:
            raise ImportError(
                "rows of a Dask collection need dask with its array and distributed "
                "parts: pip install 'scedae[dask]'."
            ) from error
        return open_dask(X, str(device))
    return StoredRows(_table(X), resolve_device(device))


def _table(X: Any) -> RowTable:
    if isinstance(X, np.memmap):
        return MappedTable(X)
    return open_table(Path(X))


def open_table(path: Path) -> RowTable:
    """The table a path names, or one clear error."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}.")
    if path.suffix == ".npy":
        return NpyTable(path)
    if any((path / name).exists() for name in ("zarr.json", ".zarray")):
        return ZarrTable(path)
    if files := parquet_files(path):
        return ParquetTable(path, files)
    raise ValueError(
        f"{str(path)!r} is not an .npy file, a Zarr array, or a Parquet file or folder."
    )


def whole(rows: Stream) -> np.ndarray | None:
    """All rows as an array, where a file has no more than would be drawn of it.

    They are then treated like any others in memory.
    """
    if not isinstance(rows, StoredRows):
        return None
    if not fits_in_memory(rows.n_rows, rows.n_columns):
        return None
    return rows.read([slice(0, rows.n_rows)]).numpy()
