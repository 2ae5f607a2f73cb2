"""Where rows live, and how they are brought into the range a network can learn."""

from __future__ import annotations

import torch

from scedae._random import generator
from scedae._rows.crew import Crew
from scedae._rows.directions import Directions, find_directions, rows_to_learn
from scedae._rows.memory import MemoryRows, TensorRows
from scedae._rows.numbers import plain_dtype, refuse_not_finite
from scedae._rows.opening import is_elsewhere, open_rows, whole
from scedae._rows.passes import Tick
from scedae._rows.results import write_result
from scedae._rows.scaled_stream import OnScaled, ScaledStream
from scedae._rows.scaling import SCALES, ScaledRows, Scaler, Scaling, fit_scaler
from scedae._rows.statistics import Statistics, gather_statistics
from scedae._rows.stream import Result, Stream

Rows = MemoryRows | TensorRows | Stream


def scaled(
    rows: Rows, scaler: Scaler, device: torch.device, seed: int
) -> ScaledRows | ScaledStream:
    """Rows as the networks see them; ``seed`` says which are drawn of many."""
    if isinstance(rows, Stream):
        return ScaledStream(rows, scaler, seed)
    return ScaledRows(rows, scaler, device)


def draw(rows: Rows, scaler: Scaler, at_most: int, seed: int) -> torch.Tensor:
    """Some scaled rows, from everywhere; all of them, if there are no more."""
    source = (
        ScaledStream(rows, scaler, seed).sample(torch.device("cpu"))
        if isinstance(rows, Stream)
        else ScaledRows(rows, scaler)
    )
    order = torch.randperm(source.n_rows, generator=generator(seed, "draw"))
    return source.take(order[:at_most].sort().values.to(source.device))


__all__ = [
    "SCALES",
    "Crew",
    "Directions",
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
    "Tick",
    "draw",
    "find_directions",
    "fit_scaler",
    "gather_statistics",
    "is_elsewhere",
    "open_rows",
    "plain_dtype",
    "refuse_not_finite",
    "rows_to_learn",
    "scaled",
    "whole",
    "write_result",
]
