"""What is written of each row beside label and confidence, if asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from scedae import SCEDAE
from scedae.cli.messages import InputError, note

# Digits after the point, as those of confidence.
_DIGITS = 6


@dataclass(frozen=True)
class More:
    """Chances of all clusters, novelty, and labels in other layers."""

    proba: bool = False
    novelty: bool = False
    layers: tuple[int, ...] = ()

    def of_fit(self, model: SCEDAE) -> pl.DataFrame | None:
        """The columns of the training rows; a layer that is not there is told."""
        columns: dict[str, np.ndarray] = {}
        if self.proba:
            columns |= _chances(model.probabilities_)
        for n_clusters in self.layers:
            try:
                columns[f"layer_{n_clusters}"] = model.labels_at(n_clusters)
            except (ValueError, AttributeError) as error:
                note(f"no column layer_{n_clusters} was written: {error}")
        return pl.DataFrame(columns) if columns else None

    def check(self, model: SCEDAE) -> None:
        """Before rows are read: whether the model has such layers."""
        most = len(getattr(model, "linkage_", ())) + 1
        for n_clusters in self.layers:
            if n_clusters > most or most == 1:
                raise InputError(
                    f"there is no layer of {n_clusters} clusters: the model has those "
                    f"of 1 to {most}."
                    if most > 1
                    else "the model has no layers: fit again with this scedae."
                )

    def of_rows(self, model: SCEDAE, rows: Any) -> pl.DataFrame | None:
        """The columns of other rows, by one walk over them for each kind."""
        columns: dict[str, np.ndarray] = {}
        if self.proba:
            columns |= _chances(model.predict_proba(rows))
        if self.novelty:
            columns["novelty"] = model.novelty_score(rows).round(_DIGITS)
        for n_clusters in self.layers:
            found = model.predict(rows, layer=n_clusters)
            columns[f"layer_{n_clusters}"] = found
        return pl.DataFrame(columns) if columns else None


def _chances(probabilities: np.ndarray) -> dict[str, np.ndarray]:
    rounded = probabilities.round(_DIGITS)
    return {f"probability_{i}": rounded[:, i] for i in range(rounded.shape[1])}
