"""Where rows live, and how they are brought into the range a network can learn."""

from scedae.rows.memory import MemoryRows, TensorRows
from scedae.rows.scaling import (
    SCALES,
    ScaledRows,
    Scaler,
    Statistics,
    fit_scaler,
    gather_statistics,
)

Rows = MemoryRows | TensorRows

__all__ = [
    "SCALES",
    "MemoryRows",
    "Rows",
    "ScaledRows",
    "Scaler",
    "Statistics",
    "TensorRows",
    "fit_scaler",
    "gather_statistics",
]
