"""Rows of numbers without names: arrays in files, and data sets."""

from __future__ import annotations

import numpy as np

from scedae._formats import open_arrays, require_matrix
from scedae.cli.checks import require_columns
from scedae.cli.choice import Choice
from scedae.cli.messages import InputError, errors_of
from scedae.cli.sources import Source

# The value of --labels for a data set, whose labels are no column of it.
KNOWN = "known"


def load_array(
    source: Source, labels: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows, and labels to score with; those of an .npy stay in their file."""
    if source.is_dataset:
        if labels not in (None, KNOWN):
            raise InputError(f"--labels for a data set is {KNOWN!r}, not {labels!r}.")
        X, y = source.dataset
        return X, y if labels else None
    with errors_of(source.given):
        loaded = open_arrays(source.path)
    if isinstance(loaded, dict):
        return _from_archive(source, loaded, labels)
    if labels is not None:
        raise InputError(f"{source.given} has no labels beside its rows.")
    # A plain view: what is written is the same for every way to store rows.
    return _matrix(source, np.asarray(loaded)), None


def chosen_columns(
    source: Source, X: np.ndarray, choice: Choice
) -> tuple[np.ndarray, np.ndarray, list[str] | None]:
    """The rows that are clustered, their ids, and the numbers of chosen columns."""
    ids = np.arange(len(X))
    if not (choice.columns or choice.drop or choice.id_column is not None):
        return X, ids, None
    numbers = [str(i) for i in range(X.shape[1])]
    plain = Choice(choice.columns, choice.drop, choice.id_column)
    columns = plain.features(source, numbers)
    if choice.id_column is not None:
        require_columns(source, [choice.id_column], numbers)
        ids = X[:, int(choice.id_column)]
    return X[:, [int(name) for name in columns]], ids, columns


def _from_archive(
    source: Source, arrays: dict[str, np.ndarray], labels: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """The array X of an .npz, or the only matrix in it; labels by their name."""
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    name = "X" if "X" in arrays else matrices[0] if len(matrices) == 1 else None
    if name is None:
        raise InputError(
            f"{source.given} must hold one matrix, or one named X; it holds "
            f"{', '.join(arrays) or 'nothing'}."
        )
    X = _matrix(source, arrays[name])
    if labels is None:
        return X, None
    require_columns(source, [labels], list(arrays))
    y = arrays[labels]
    if y.shape != (len(X),):
        raise InputError(
            f"{source.given}: {labels!r} has shape {y.shape}; {len(X)} labels are "
            "needed."
        )
    return X, y


def _matrix(source: Source, array: np.ndarray) -> np.ndarray:
    with errors_of(source.given):
        require_matrix(array.shape, array.dtype)
    return array
