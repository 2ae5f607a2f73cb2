"""Several views at the door of an estimator: checked, and put side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from scedae._model import FittedPipeline
from scedae._rows import Rows, ViewScaler, join_views
from scedae._shell.applying import FittedModel
from scedae._validation import check_rows
from scedae._views import (
    check_views,
    is_views,
    joined_names,
    name_views,
    views_at_hand,
)
from scedae.exceptions import ModelFileError


def views_to_learn(estimator: Any, X: Any, *, able: bool) -> Rows:
    """The views of a fit side by side; the estimator learns their columns."""
    if not able:
        raise TypeError(
            f"{type(estimator).__name__} is fitted on one matrix, and X is a "
            f"{type(X).__name__} of matrices: pass one of them, or use SCEDAE or "
            "LandmarkSpectralClustering."
        )
    found = check_views(name_views(X), estimator.device)
    columns = [known for _, known in found]
    estimator.views_ = {known.name: known for known in columns}
    estimator.n_features_in_ = sum(known.n_features_in for known in columns)
    vars(estimator).pop("feature_names_in_", None)
    if (names := joined_names(columns)) is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return join_views([rows for rows, _ in found])


def open_for(estimator: Any, model: FittedModel, X: Any) -> tuple[FittedModel, Rows]:
    """Rows to apply a model to, and the model: that of the views at hand."""
    if hasattr(estimator, "views_"):
        assert isinstance(model, FittedPipeline)
        return _open_views(estimator, model, X)
    if is_views(X):
        raise ValueError(
            f"X is a {type(X).__name__} of matrices, but the model was fitted on one "
            "matrix: pass one."
        )
    return model, check_rows(estimator, X, reset=False)


def _open_views(
    estimator: Any, model: FittedPipeline, X: Any
) -> tuple[FittedPipeline, Rows]:
    assert isinstance(model.scaler, ViewScaler)
    views, used = views_at_hand(X, estimator.views_), model.scaler.names
    if not any(name in used for name in views):
        needed = ", ".join(map(repr, used))
        raise ValueError(
            f"all views are missing that the answer rests on: pass at least one of "
            f"{needed}."
        )
    found = check_views(views, estimator.device, estimator.views_)
    rows = [rows for rows, _ in found if rows.name in used]
    return _heard(model, [each.name for each in rows]), join_views(rows)


def _heard(model: FittedPipeline, names: list[str]) -> FittedPipeline:
    """The model as far as it needs no other views."""
    assert isinstance(model.scaler, ViewScaler)
    if len(names) == len(model.scaler.names):
        return model
    if not any(member.spec.view in names for member in model.members):
        raise ValueError(
            f"no member sees {', '.join(map(repr, names))} alone: pass all views, or "
            "fit with members for that view (MemberSpec(view=…))."
        )
    return model.of_views(names)


def check_views_fit(estimator: Any, model: FittedPipeline) -> None:
    """Refuse a file whose model is of other views than it says."""
    said = getattr(estimator, "views_", {})
    total = sum(view.n_features_in for view in said.values())
    if said and total != estimator.n_features_in_:
        raise ModelFileError("its views have other columns than its rows")
    widths = {name: view.n_features_in for name, view in said.items()}
    scaler = model.scaler
    found: dict[str, int] = {}
    if isinstance(scaler, ViewScaler):
        pairs = zip(scaler.names, scaler.parts, strict=True)
        found = {name: len(part.offset) for name, part in pairs}
    if bool(said) != bool(found) or not found.items() <= widths.items():
        raise ModelFileError("its views are not those that it was fitted on")
