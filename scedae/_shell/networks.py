"""The parameters that every estimator with autoencoders has, resolved once."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import suppress
from numbers import Integral, Real
from typing import Any, Protocol

from scedae._autoencoder import PRECISIONS, SCHEDULES, TrainingOptions
from scedae._constraints import Interval, StrOptions
from scedae._defaults import (
    BASELINE,
    Effort,
    resolve_batch_size,
    resolve_epochs,
    resolve_hidden_layers,
    resolve_precision,
)
from scedae._members import MemberSpec
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import root_seed
from scedae._rows import SCALES, AnyScaler, Rows, gather_statistics, learn_scaler
from scedae._shell.base import COMMON_CONSTRAINTS

# Beyond any use: more units of a layer, or epochs, are a slip of the hand.
WIDEST, LONGEST = 10**6, 10**7

AUTOENCODER_CONSTRAINTS: dict[str, list[Any]] = {
    **COMMON_CONSTRAINTS,
    "hidden_layers": [StrOptions({"auto"}), "array-like"],
    "encoding_dim": [Interval(Integral, 1, WIDEST, closed="both")],
    "epochs": [StrOptions({"auto"}), Interval(Integral, 1, LONGEST, closed="both")],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "schedule": [StrOptions(set(SCHEDULES))],
    "precision": [StrOptions({"auto", *PRECISIONS})],
    "scale": [StrOptions(set(SCALES))],
}


class NetworkParameters(Protocol):
    """What an estimator with autoencoders was given."""

    n_clusters: Any
    hidden_layers: Any
    encoding_dim: Any
    epochs: Any
    batch_size: Any
    learning_rate: Any
    schedule: Any
    precision: Any
    scale: Any
    random_state: Any


def hidden_widths(
    given: NetworkParameters, rows: Rows, effort: Effort
) -> tuple[int, ...]:
    """Widths of the hidden layers, or one clear error."""
    layers: tuple[int, ...] = ()
    # Sets and mappings have no order that a network could have.
    if not isinstance(given.hidden_layers, Set | Mapping):
        with suppress(TypeError):  # a number, in whatever guise
            layers = resolve_hidden_layers(
                given.hidden_layers, rows.n_rows, rows.n_columns, effort
            )
    if not layers or not all(map(_is_width, layers)):
        raise ValueError(
            f"hidden_layers={given.hidden_layers!r} must name at least one layer, "
            f"each 1 to {WIDEST} units wide, e.g. (500, 750, 1000)."
        )
    return tuple(int(width) for width in layers)


def _is_width(width: object) -> bool:
    if isinstance(width, bool) or not isinstance(width, Integral):
        return False
    return 1 <= int(width) <= WIDEST


def n_epochs(given: NetworkParameters, rows: Rows, effort: Effort) -> int:
    return resolve_epochs(
        given.epochs,
        hidden_widths(given, rows, effort),
        rows.rows_per_epoch,
        resolve_batch_size(int(given.batch_size), rows.rows_per_epoch),
        effort,
    )


def training_options(
    given: NetworkParameters, rows: Rows, scaler: AnyScaler
) -> TrainingOptions:
    """What all networks of a fit have in common."""
    code_width = given.encoding_dim
    precision = given.precision
    if rows.crew() is None:  # each worker of a crew knows its own device
        precision = resolve_precision(precision, rows.home.type)
    return TrainingOptions(
        # DKM alone takes "auto": as many as clusters.
        encoding_dim=int(given.n_clusters if code_width == "auto" else code_width),
        batch_size=resolve_batch_size(int(given.batch_size), rows.rows_per_epoch),
        learning_rate=float(given.learning_rate),
        schedule=given.schedule,
        bounded=scaler.ends_bounded,
        precision=precision,
    )


def one_network(
    given: NetworkParameters, rows: Rows, progress: Progress, n_landmarks: int
) -> Prepared:
    """The start of a baseline: one autoencoder on scaled rows."""
    statistics, seed = gather_statistics(rows), root_seed(given.random_state)
    scaler = learn_scaler(rows, statistics, given.scale, seed)
    widths = hidden_widths(given, rows, BASELINE)
    return Prepared(
        rows,
        scaler,
        [MemberSpec(widths, n_epochs(given, rows, BASELINE), n_landmarks)],
        training_options(given, rows, scaler),
        seed=seed,
        rows_are_equal=statistics.constant,
        progress=progress,
    )
