"""What the report is about, checked at the border: rows, their ids, column names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

# Longer names of rows and columns are cut: 10,000 of them are in the page.
_LONGEST_NAME = 80


@dataclass(frozen=True)
class NamedRows:
    """The rows of the fit with their names."""

    rows: Any  # (n, d) ndarray or CSR matrix
    ids: list[str]
    columns: list[str]
    columns_are_named: bool
    classes: np.ndarray | None  # (n,) only to score

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.rows.shape[1])

    def take(self, index: Any) -> np.ndarray:
        """Chosen rows, dense and in double precision."""
        chosen = self.rows[index]
        if scipy.sparse.issparse(chosen):
            chosen = chosen.toarray()
        return np.asarray(chosen, dtype=np.float64)


def check_source(
    model: Any, X: Any, ids: Any, columns: Any, true_labels: Any
) -> NamedRows:
    """The arguments of ``write_report`` as a ``NamedRows``, or an error that helps."""
    check_is_fitted(model, "pipeline_")
    if not hasattr(model, "embedding_"):
        raise ValueError(
            "the model was fitted on rows that do not lie in memory, and a report "
            "looks at all of them: fit an array of some of the rows for a report."
        )
    if not hasattr(model, "singular_values_"):
        raise TypeError(
            f"there is no report for {type(model).__name__}, only for SCEDAE, "
            "LandmarkSpectralClustering and AutoencoderLSC."
        )
    rows = X.tocsr() if scipy.sparse.issparse(X) else np.asarray(X)
    expected = (len(model.labels_), model.n_features_in_)
    if rows.shape != expected:
        raise ValueError(
            f"X has shape {rows.shape}, but the model was fitted on rows of shape "
            f"{expected}: pass the rows of the fit."
        )
    n_rows, n_columns = expected
    if columns is None:
        columns = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    if ids is None:
        ids = getattr(X, "index", range(n_rows))
    numbered = [f"column {j}" for j in range(n_columns)]
    return NamedRows(
        rows,
        _names("ids", ids, n_rows),
        numbered if columns is None else _names("columns", columns, n_columns),
        columns is not None,
        None if true_labels is None else _classes(true_labels, n_rows),
    )


def _names(what: str, given: Sequence[Any], length: int) -> list[str]:
    names = [str(name) for name in given]
    if len(names) != length:
        raise ValueError(f"{what} has {len(names)} names where {length} are needed.")
    return [
        name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        for name in names
    ]


def _classes(true_labels: Any, n_rows: int) -> np.ndarray:
    classes = np.asarray(true_labels)
    if classes.shape != (n_rows,):
        raise ValueError(
            f"true_labels has shape {classes.shape} where one label for each of "
            f"{n_rows} rows is needed."
        )
    # Numbers stay numbers, so that class 10 comes after class 9.
    return classes.astype(str) if classes.dtype.kind == "O" else classes
