"""Where rows live, and how they are brought into the range a network can learn."""

from __future__ import annotations

import torch

from scedae.rows.crew import Crew
from scedae.rows.memory import MemoryRows, TensorRows
from scedae.rows.numbers import plain_dtype, refuse_not_finite
from scedae.rows.opening import is_elsewhere, open_rows, whole
from scedae.rows.results import write_result
from scedae.rows.scaled_stream import OnScaled, ScaledStream
from scedae.rows.scaling import SCALES, ScaledRows, Scaler, Scaling, fit_scaler
from scedae.rows.statistics import Statistics, gather_statistics
from scedae.rows.stream import Result, Stream

Rows = MemoryRows | TensorRows | Stream


def scaled(
    rows: Rows, scaler: Scaler, device: torch.device, seed: int
) -> ScaledRows | ScaledStream:
    """Rows as the networks see them; ``seed`` says which are drawn of many."""
    if isinstance(rows, Stream):
        return ScaledStream(rows, scaler, seed)
    return ScaledRows(rows, scaler, device)


__all__ = [
    "SCALES",
    "Crew",
    "MemoryRows",
    "OnScaled",
    "Result",
    "Rows",
    "ScaledRows",
    "ScaledStream",
    "Scaler",
    "Scaling",
    "Statistics",
    "Stream",
    "TensorRows",
    "fit_scaler",
    "gather_statistics",
    "is_elsewhere",
    "open_rows",
    "plain_dtype",
    "refuse_not_finite",
    "scaled",
    "whole",
    "write_result",
]
