"""Several views of the same rows, side by side as one wide matrix.

A view is a range of its columns. So passes over all rows, new rows, files and clusters
need not know of views; what is learnt of one view alone is learnt from its own rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from scedae._rows.files import RowTable
from scedae._rows.interface import Rows
from scedae._rows.memory import AtHand
from scedae._rows.stored import StoredRows
from scedae._rows.stream import Stream


@dataclass(frozen=True)
class ViewRows:
    """The rows as one view has them."""

    name: str
    rows: Rows
    trained: bool = True  # whether networks are trained on it


def join_views(views: Sequence[ViewRows]) -> Rows:
    """One wide matrix of views that have equally many rows."""
    parts = [view.rows for view in views]
    if all(isinstance(part, AtHand) for part in parts):
        return JoinedRows(views)
    if all(isinstance(part, AtHand | StoredRows) for part in parts):
        return _joined_files(views)
    if any(isinstance(part, AtHand | StoredRows) for part in parts):
        raise TypeError(
            "some views are Dask collections and others are not: make all of them "
            "Dask arrays (dask.array.from_array), or none."
        )
    from scedae._rows.dask_rows import join_dask

    wide = join_dask(parts)
    return _with_views(wide, views, parts)


def keep_views(rows: Rows, names: Collection[str]) -> Rows:
    """The rows without some of their views; what is drawn of them stays the same."""
    kept = join_views([view for view in rows.views if view.name in names])
    if isinstance(rows, Stream) and isinstance(kept, Stream):
        for part in (kept, *(view.rows for view in kept.views)):
            assert isinstance(part, Stream)
            part.draw_like(rows)
    return kept


class JoinedRows(AtHand):
    """Views in memory; only the rows asked for are put side by side."""

    def __init__(self, views: Sequence[ViewRows]) -> None:
        self._parts = [view.rows for view in views if isinstance(view.rows, AtHand)]
        n_columns = sum(part.n_columns for part in self._parts)
        first, dtype = self._parts[0], _widest(self._parts)
        super().__init__((first.n_rows, n_columns), dtype, first.device)
        self.place = first.place
        for part in self._parts:  # scaled alone as they are scaled side by side
            part.dtype = dtype
        self.views = tuple(views)

    def block(self, start: int, stop: int) -> torch.Tensor:
        return self._joined([part.block(start, stop) for part in self._parts])

    def take(self, index: torch.Tensor, *, pinned: bool = False) -> torch.Tensor:
        taken = self._joined([part.take(index) for part in self._parts])
        return taken.pin_memory() if pinned else taken

    def _joined(self, blocks: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.cat([block.to(self.dtype) for block in blocks], dim=1)

    def brought(self) -> JoinedRows:
        """On the GPU, if every view can be there; else all stay where they are."""
        brought = [replace(view, rows=view.rows.brought()) for view in self.views]
        found = JoinedRows(brought)
        together = len({part.place for part in found._parts}) == 1
        return found if together else self


def _widest(parts: Sequence[Rows]) -> torch.dtype:
    doubles = any(part.dtype == torch.float64 for part in parts)
    return torch.float64 if doubles else torch.float32


class JoinedTable:
    """Tables of equally many rows, side by side."""

    names: Sequence[str] | None = None

    def __init__(self, tables: Sequence[RowTable]) -> None:
        self._tables = tables
        n_columns = sum(table.shape[1] for table in tables)
        self.shape: tuple[int, int] = (tables[0].shape[0], n_columns)
        self.dtype = np.result_type(*(table.dtype for table in tables))
        self.place = " and ".join(table.place for table in tables)

    def read(self, start: int, stop: int) -> np.ndarray:
        return np.hstack([table.read(start, stop) for table in self._tables])


class HeldTable:
    """Rows in memory beside others that are read."""

    names: Sequence[str] | None = None
    place = "an array in memory"

    def __init__(self, rows: AtHand) -> None:
        self._rows = rows
        self.shape = (rows.n_rows, rows.n_columns)
        self.dtype = np.dtype("f8" if rows.dtype == torch.float64 else "f4")

    def read(self, start: int, stop: int) -> np.ndarray:
        return self._rows.block(start, stop).numpy().astype(self.dtype)


def _joined_files(views: Sequence[ViewRows]) -> Rows:
    tables: list[RowTable] = [
        rows.table if isinstance(rows, StoredRows) else HeldTable(rows)
        for rows in (view.rows for view in views)
        if isinstance(rows, AtHand | StoredRows)
    ]
    device = views[0].rows.home
    wide = StoredRows(JoinedTable(tables), device)
    return _with_views(wide, views, [StoredRows(table, device) for table in tables])


def _with_views(
    wide: Stream, views: Sequence[ViewRows], parts: Sequence[Rows]
) -> Stream:
    """The wide rows, whose views draw the rows that it draws."""
    for part in parts:
        assert isinstance(part, Stream)
        part.draw_like(wide)
    wide.views = tuple(
        replace(view, rows=part) for view, part in zip(views, parts, strict=True)
    )
    return wide
