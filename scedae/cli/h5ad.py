"""Cells of an .h5ad file, as biologists have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from scedae.cli.checks import require_columns
from scedae.cli.choice import Choice
from scedae.cli.messages import InputError, errors_of
from scedae.cli.sources import Source


@dataclass(frozen=True)
class CellRows:
    """Rows to cluster, names of the cells, and what is known of them."""

    rows: np.ndarray
    ids: np.ndarray
    labels: np.ndarray | None
    about: pl.DataFrame | None


def read_cells(source: Source, choice: Choice) -> CellRows:
    """The representation that ``scedae.anndata`` would take, and the table ``obs``."""
    try:
        from scedae.anndata import read_rows
    except ImportError as error:
        raise InputError(str(error)) from error
    with errors_of(source.given):
        rows, obs = read_rows(source.path)
    labels = None
    if choice.labels is not None:
        require_columns(source, [choice.labels], list(obs.columns))
        labels = obs[choice.labels].astype(str).to_numpy()
        obs = obs.drop(columns=choice.labels)
    from scedae._tables.frames import as_frame

    about = as_frame(obs.drop(columns=[c for c in choice.drop if c in obs.columns]))
    return CellRows(rows, obs.index.astype(str).to_numpy(), labels, about)
