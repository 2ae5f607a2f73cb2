"""Where rows live, and how they are brought into the range a network can learn."""

from scedae._rows.directions import Directions, find_directions, rows_to_learn
from scedae._rows.interface import Crew, Result, Rows, Tick
from scedae._rows.joining import JoinedRows, ViewRows, join_views, keep_views
from scedae._rows.marginals import Marginals
from scedae._rows.memory import MemoryRows, TensorRows
from scedae._rows.numbers import plain_dtype, refuse_not_finite
from scedae._rows.opening import is_elsewhere, open_rows, whole
from scedae._rows.scaled_rows import (
    ScaledRows,
    TrainingRows,
    draw,
    learn_scaler,
    on_scaled,
    scaled,
)
from scedae._rows.scaling import SCALES, Scaler, fit_scaler
from scedae._rows.statistics import Statistics, gather_statistics
from scedae._rows.view_scaler import AnyScaler, ViewScaler, side_by_side

__all__ = [
    "SCALES",
    "AnyScaler",
    "Crew",
    "Directions",
    "JoinedRows",
    "Marginals",
    "MemoryRows",
    "Result",
    "Rows",
    "ScaledRows",
    "Scaler",
    "Statistics",
    "TensorRows",
    "Tick",
    "TrainingRows",
    "ViewRows",
    "ViewScaler",
    "draw",
    "find_directions",
    "fit_scaler",
    "gather_statistics",
    "is_elsewhere",
    "join_views",
    "keep_views",
    "learn_scaler",
    "on_scaled",
    "open_rows",
    "plain_dtype",
    "refuse_not_finite",
    "rows_to_learn",
    "scaled",
    "side_by_side",
    "whole",
]
