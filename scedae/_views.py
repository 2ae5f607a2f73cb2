"""Several matrices of the same rows: what a user may pass, and what it means.

A list or a dict of matrices is views; whatever scikit-learn takes for one matrix, a
list of lists of numbers for instance, still is one matrix.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator

from scedae._model import FittedView
from scedae._rows import ViewRows
from scedae._validation import check_rows
from scedae.exceptions import ViewLeftOutWarning, warn_user


@dataclass(frozen=True)
class View:
    """A view with a wish for how ``fit`` treats it; a plain matrix will do without.

    Parameters
    ----------
    X : as one view of :meth:`SCEDAE.fit`, of shape (n_samples, n_features)
    train : bool, default=True
        False for encodings that were made elsewhere, by a language or image model for
        instance: no network is trained on them, all members of the view work on the
        rows as they are (scaled, as any others).

    Examples
    --------
    >>> import numpy as np
    >>> from scedae import SCEDAE, View
    >>> rng = np.random.default_rng(0)
    >>> words = np.repeat(np.eye(3), 20, axis=0) + rng.normal(0, 0.1, (60, 3))
    >>> embeddings = words @ rng.normal(size=(3, 8))
    >>> views = {"words": words, "embeddings": View(embeddings, train=False)}
    >>> model = SCEDAE(3, effort="fast", random_state=0).fit(views)
    >>> sorted(model.views_)
    ['embeddings', 'words']
    >>> bool((model.predict({"words": words}) == model.labels_).all())
    True
    """

    X: Any
    train: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.train, bool):
            raise ValueError(f"train={self.train!r} must be True or False.")


def is_views(X: Any) -> bool:
    """Whether X is a dict, or a list of matrices (None for one that is missing)."""
    if isinstance(X, Mapping):
        return not _is_matrix(X)  # as a sparse matrix by keys is
    if not isinstance(X, list | tuple):
        return False
    return all(item is None or _is_matrix(item) for item in X)


def _is_matrix(item: Any) -> bool:
    if isinstance(item, View | str | os.PathLike):
        return True
    return len(getattr(item, "shape", ())) == 2


def name_views(X: Any) -> dict[str, View]:
    """What was passed to ``fit``, by name, or one clear error."""
    if not len(X):
        raise ValueError(
            f"X is an empty {type(X).__name__}: there is neither a row nor a view."
        )
    named = X if isinstance(X, Mapping) else _numbered(X)
    for name, view in named.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name {name!r} of a view must be a text.")
        if view is None:
            raise ValueError(
                f"view {name!r} is None: a fit needs every view that it is to know."
            )
    return {name: _as_view(view) for name, view in named.items()}


def views_at_hand(X: Any, fitted: Mapping[str, FittedView]) -> dict[str, View]:
    """What was passed to ``predict``: the views that are not missing."""
    known = ", ".join(map(repr, fitted))
    if not is_views(X):
        raise ValueError(
            f"the model was fitted on the views {known}: pass a dict of them, or a "
            "list in that order with None for one that is missing."
        )
    if isinstance(X, Mapping):
        if unknown := [name for name in X if name not in fitted]:
            raise ValueError(
                f"there is no view {unknown[0]!r}; those of the fit are {known}."
            )
        named = {name: X.get(name) for name in fitted}
    else:
        if len(X) != len(fitted):
            raise ValueError(
                f"X is a list of {len(X)} views, and the model was fitted on "
                f"{len(fitted)} ({known}): pass None for one that is missing."
            )
        named = dict(zip(fitted, X, strict=True))
    return {name: _as_view(view) for name, view in named.items() if view is not None}


def _numbered(views: Sequence[Any]) -> dict[str, Any]:
    return {f"view{number}": view for number, view in enumerate(views, 1)}


def _as_view(view: Any) -> View:
    return view if isinstance(view, View) else View(view)


class _Columns(BaseEstimator):
    """What scikit-learn's checks learn of the columns of one view, or compare."""

    def __init__(self, device: str | torch.device) -> None:
        self.device = device


def check_views(
    views: Mapping[str, View],
    device: str | torch.device,
    fitted: Mapping[str, FittedView] | None = None,
) -> list[tuple[ViewRows, FittedView]]:
    """The rows of each view and what is known of its columns, or one clear error.

    ``fitted`` are the views of the fit, to compare with; None in a fit.
    """
    found = [
        _checked(name, view, device, None if fitted is None else fitted[name])
        for name, view in views.items()
    ]
    counts = {rows.name: rows.rows.n_rows for rows, _ in found}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name!r} {count:,}" for name, count in counts.items())
        raise ValueError(
            f"views must be of the same rows, in the same order, but they have "
            f"different numbers of rows: {said}."
        )
    return found


def _checked(
    name: str, view: View, device: str | torch.device, fitted: FittedView | None
) -> tuple[ViewRows, FittedView]:
    columns = _Columns(device)
    if fitted is not None:
        columns.n_features_in_ = fitted.n_features_in
        if fitted.feature_names_in is not None:
            columns.feature_names_in_ = np.asarray(
                fitted.feature_names_in, dtype=object
            )
    with _named_errors(name):
        rows = check_rows(columns, view.X, reset=fitted is None)
    found = getattr(columns, "feature_names_in_", None)
    names = None if found is None else tuple(map(str, found))
    known = FittedView(name, rows.n_columns, names, view.train)
    return ViewRows(name, rows, view.train), known


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    """Errors that say which view they are about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        words = str(error).replace("but _Columns is", "but that view is")
        raise type(error)(f"view {name!r}: {words}") from error


def warn_if_left_out(views: Iterable[FittedView]) -> None:
    """Say so when the answer does not rest on everything that was passed."""
    lost = [repr(view.name) for view in views if view.left_out]
    if lost:
        warn_user(
            f"view {', '.join(lost)} was left out: halves of the ensemble agree more, "
            "and clusters are clearer, without it. It may be noise, or show something "
            "else; fit it alone to see. A list of MemberSpec as ensemble keeps it.",
            ViewLeftOutWarning,
        )


def joined_names(views: Sequence[FittedView]) -> list[str] | None:
    """Names of all columns, ``view.column``; None where no view has any."""
    if all(view.feature_names_in is None for view in views):
        return None
    return [
        f"{view.name}.{column}"
        for view in views
        for column in (
            range(view.n_features_in)
            if view.feature_names_in is None
            else view.feature_names_in
        )
    ]
