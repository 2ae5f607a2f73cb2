"""Errors and warnings of the package; each error is also the standard one."""

from __future__ import annotations

import sys
import warnings


class ScedaeError(Exception):
    """Base of all errors raised on purpose by this package.

    Examples
    --------
    >>> from scedae.exceptions import ModelFileError, ScedaeError
    >>> issubclass(ModelFileError, ScedaeError)
    True
    """


class CollapsedEnsembleError(ScedaeError, RuntimeError):
    """Every autoencoder of the ensemble collapsed: there is nothing to cluster.

    Examples
    --------
    >>> from scedae.exceptions import CollapsedEnsembleError
    >>> issubclass(CollapsedEnsembleError, RuntimeError)
    True
    """


class DeviceError(ScedaeError, ValueError):
    """The device asked for does not exist on this machine.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering
    >>> from scedae.exceptions import DeviceError
    >>> try:
    ...     LandmarkSpectralClustering(2, device="cuda:99").fit([[0.0], [1.0], [2.0]])
    ... except DeviceError:
    ...     print("no such device")
    no such device
    """


class ModelFileError(ScedaeError, ValueError):
    """A file is not a model of this package, or it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scedae import SCEDAE
    >>> from scedae.exceptions import ModelFileError
    >>> path = Path(tempfile.mkdtemp()) / "notes.scedae"
    >>> _ = path.write_text("not a model")
    >>> try:
    ...     SCEDAE.load(path)
    ... except ModelFileError:
    ...     print("no model in that file")
    no model in that file
    """


class NotLearntError(ScedaeError, AttributeError):
    """A model does not know what it is asked for: its file is older than the question.

    Examples
    --------
    >>> from scedae.exceptions import NotLearntError
    >>> issubclass(NotLearntError, AttributeError)
    True
    """


class DatasetNotFoundError(ScedaeError, FileNotFoundError):
    """A data set is neither on this machine nor to be had from OpenML.

    Examples
    --------
    >>> from scedae.exceptions import DatasetNotFoundError
    >>> issubclass(DatasetNotFoundError, FileNotFoundError)
    True
    """


class ChecksumError(ScedaeError, ValueError):
    """A data file does not hold the data set its name promises.

    Examples
    --------
    >>> from scedae.exceptions import ChecksumError
    >>> issubclass(ChecksumError, ValueError)
    True
    """


class BlockReadError(ScedaeError, OSError):
    """Some rows of a file, or of a Dask collection, cannot be read.

    Examples
    --------
    >>> from scedae.exceptions import BlockReadError
    >>> issubclass(BlockReadError, OSError)
    True
    """


class ClusterLostError(ScedaeError, ConnectionError):
    """The scheduler of Dask went away in the middle of the work.

    Examples
    --------
    >>> from scedae.exceptions import ClusterLostError
    >>> issubclass(ClusterLostError, ConnectionError)
    True
    """


class CollapsedMemberWarning(UserWarning):
    """An autoencoder collapsed and was left out of the ensemble.

    Examples
    --------
    >>> from scedae.exceptions import CollapsedMemberWarning
    >>> issubclass(CollapsedMemberWarning, UserWarning)
    True
    """


class ViewLeftOutWarning(UserWarning):
    """The clusters are clearer without one of several views, so it was left out.

    Examples
    --------
    >>> from scedae.exceptions import ViewLeftOutWarning
    >>> issubclass(ViewLeftOutWarning, UserWarning)
    True
    """


class DegenerateDataWarning(UserWarning):
    """The data allow an answer, but it means little.

    Examples
    --------
    >>> from scedae.exceptions import DegenerateDataWarning
    >>> issubclass(DegenerateDataWarning, UserWarning)
    True
    """


class UnstableClustersWarning(UserWarning):
    """Halves of the ensemble find other clusters: there may be none, or not so many.

    Examples
    --------
    >>> import warnings
    >>> from scedae.exceptions import UnstableClustersWarning
    >>> warnings.simplefilter("error", UnstableClustersWarning)  # doctest: +SKIP
    """


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own code, however deep the reason is found."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("scedae"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
