"""Find a data set on this machine, else get it from OpenML, and verify it."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from scedae._whole_file import whole_file
from scedae.datasets._registry import REGISTRY, Entry, content_checksum
from scedae.exceptions import ChecksumError, DatasetNotFoundError, warn_user

Data = tuple[np.ndarray, np.ndarray]

SUBSETS = ("all", "train", "test")


def cache_folder() -> Path:
    """Where downloaded data is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "scedae"


def data_folders() -> list[Path]:
    """Folders searched, in this order: ``SCEDAE_DATA``, then the user's cache."""
    chosen = os.environ.get("SCEDAE_DATA")
    return [*([Path(chosen)] if chosen else []), cache_folder()]


def read_npz(path: Path, entry: Entry) -> Data:
    """X and y of a file, after comparing their checksum."""
    try:
        with np.load(path, allow_pickle=False) as file:
            X, y = file["X"], file["y"]
    except (BadZipFile, KeyError, ValueError, OSError) as error:
        raise ChecksumError(
            f"{path} cannot be read as an .npz with X and y ({error}): delete it."
        ) from error
    if content_checksum(X, y) != entry.sha256:
        raise ChecksumError(
            f"{path} does not hold the data set {entry.name!r}: its checksum differs. "
            "Delete it, or put the original there."
        )
    return X, y


def _from_openml(entry: Entry, subset: str) -> Data:
    """Download, bring into the form of the file, and keep a copy in the cache.

    OpenML's copy may be rounded or ordered in another way: then it is used with a
    warning and not kept, and has no training part that could be trusted.
    """
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(data_id=entry.openml_id, as_frame=False, parser="liac-arff")
    X, y = np.asarray(bunch.data), np.asarray(bunch.target).astype(np.int64)
    if X.shape != entry.shape or len(np.unique(y)) != entry.n_classes:
        raise ChecksumError(
            f"OpenML's data set {entry.openml_id} has shape {X.shape}; {entry.name!r} "
            f"has {entry.shape}."
        )
    # The same numbers in the same form as the file: from 0, in the smallest type.
    y = y - y.min()
    if entry.name == "usps":
        X = ((X - X.min()) / (X.max() - X.min())).astype(np.float32)
    else:
        X = X.astype(np.uint8)
    if content_checksum(X, y) == entry.sha256:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with whole_file(cache_folder() / entry.file) as path, path.open("wb") as file:
            np.savez_compressed(file, X=X, y=y)
        return X, y
    message = (
        f"OpenML's copy of {entry.name!r} differs from the reference (in order or "
        "rounding)"
    )
    if subset != "all":
        raise ChecksumError(f"{message}: subset={subset!r} cannot be told. Use 'all'.")
    warn_user(f"{message}; scores may differ slightly.", UserWarning)
    return X, y


def load(name: str, subset: str = "all") -> Data:
    """X and y of a registered data set, all rows or one part of them."""
    entry = REGISTRY[name]
    if subset not in SUBSETS:
        raise ValueError(f"subset={subset!r} must be one of {', '.join(SUBSETS)}.")
    X, y = _find(entry, subset)
    if subset == "all" or entry.n_train is None:
        return X, y
    part = (
        slice(None, entry.n_train) if subset == "train" else slice(entry.n_train, None)
    )
    return X[part], y[part]


def find_file(entry: Entry) -> Path | None:
    """The file of a data set on this machine, if there is one."""
    files = (folder / entry.file for folder in data_folders())
    return next((file for file in files if file.is_file()), None)


def _find(entry: Entry, subset: str) -> Data:
    file = find_file(entry)
    if file is not None:
        return read_npz(file, entry)
    reason = "OpenML does not have it"
    if entry.openml_id is not None:
        try:
            return _from_openml(entry, subset)
        except ChecksumError:
            raise
        except Exception as error:  # sklearn lets any network error through
            reason = f"OpenML could not be reached: {error}"
    raise DatasetNotFoundError(
        f"the data set {entry.name!r} is not on this machine, and {reason}. Put the "
        f"file {entry.file} (arrays X of shape {entry.shape} and y) into "
        f"{data_folders()[0]}, or name its folder in the variable SCEDAE_DATA."
    )
