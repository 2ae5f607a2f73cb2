"""The parameters that every estimator with autoencoders has, resolved once."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

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
from scedae._rows import SCALES, Scaler, fit_scaler
from scedae._shell.base import COMMON_CONSTRAINTS, BaseClusterer, FitContext

AUTOENCODER_CONSTRAINTS: dict[str, list[Any]] = {
    **COMMON_CONSTRAINTS,
    "hidden_layers": [StrOptions({"auto"}), "array-like"],
    "encoding_dim": [Interval(Integral, 1, None, closed="left")],
    "epochs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "schedule": [StrOptions(set(SCHEDULES))],
    "precision": [StrOptions({"auto", *PRECISIONS})],
    "scale": [StrOptions(set(SCALES))],
}


class AutoencoderParameters(BaseClusterer):
    """Turns the stored parameters into what the training takes."""

    hidden_layers: Any
    encoding_dim: Any
    epochs: Any
    batch_size: int
    learning_rate: float
    schedule: str
    precision: str
    scale: str

    @property
    def _effort(self) -> Effort:
        """What every "auto" goes by."""
        return BASELINE

    def _resolved_layers(self, context: FitContext) -> tuple[int, ...]:
        rows = context.rows
        layers = resolve_hidden_layers(
            self.hidden_layers, rows.n_rows, rows.n_columns, self._effort
        )
        widths_are_legal = all(isinstance(w, Integral) and w >= 1 for w in layers)
        if not layers or not widths_are_legal:
            raise ValueError(
                f"hidden_layers={self.hidden_layers!r} must name at least one layer, "
                "each at least one unit wide, e.g. (500, 750, 1000)."
            )
        return tuple(int(width) for width in layers)

    def _resolved_encoding_dim(self) -> int:
        return int(self.encoding_dim)

    def _resolved_batch(self, context: FitContext) -> int:
        return resolve_batch_size(int(self.batch_size), context.rows.rows_per_epoch)

    def _resolved_epochs(self, context: FitContext) -> int:
        return resolve_epochs(
            self.epochs,
            self._resolved_layers(context),
            context.rows.rows_per_epoch,
            self._resolved_batch(context),
            self._effort,
        )

    def _scaler(self, context: FitContext) -> Scaler:
        return fit_scaler(context.statistics, self.scale)

    def _resolved_precision(self, context: FitContext) -> str:
        if context.rows.crew() is not None:
            return self.precision  # each worker knows its own device
        return resolve_precision(self.precision, context.rows.home.type)

    def _training_options(self, context: FitContext, scaler: Scaler) -> TrainingOptions:
        return TrainingOptions(
            encoding_dim=self._resolved_encoding_dim(),
            batch_size=self._resolved_batch(context),
            learning_rate=float(self.learning_rate),
            schedule=self.schedule,
            bounded=scaler.ends_bounded,
            precision=self._resolved_precision(context),
        )
