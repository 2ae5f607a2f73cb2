"""The report page: made by ``scedae.report`` where that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from scedae import SCEDAE
from scedae.cli.messages import InputError
from scedae.cli.tables import Table


def write_page(model: SCEDAE, table: Table, path: Path, run: dict[str, Any]) -> None:
    """Write report.html; ``InputError`` when this installation cannot."""
    try:
        from scedae.report import write_report
    except ImportError as error:
        raise InputError(f"no report could be made: {error}.") from error
    write_report(
        model,
        table.array,
        path,
        ids=table.ids,
        columns=table.names,
        true_labels=table.labels,
        about=None if table.about is None else _about(table.about),
        info=run,
    )


def _about(frame: pl.DataFrame) -> dict[str, Any]:
    """Columns as numpy has them, gaps as NaN, NaT or None."""
    return {column.name: column.to_numpy() for column in frame.iter_columns()}
