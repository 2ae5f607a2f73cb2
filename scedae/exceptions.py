"""Errors and warnings of the package; each error is also the standard one."""

from __future__ import annotations

import sys
import warnings


class ScedaeError(Exception):
    """Base of all errors raised on purpose by this package."""


class CollapsedEnsembleError(ScedaeError, RuntimeError):
    """Every autoencoder of the ensemble collapsed: there is nothing to cluster."""


class DeviceError(ScedaeError, ValueError):
    """The device asked for does not exist on this machine."""


class ModelFileError(ScedaeError, ValueError):
    """A file is not a model of this package, or it is damaged."""


class DatasetNotFoundError(ScedaeError, FileNotFoundError):
    """A data set is neither on this machine nor to be had from OpenML."""


class ChecksumError(ScedaeError, ValueError):
    """A data file does not hold the data set its name promises."""


class BlockReadError(ScedaeError, OSError):
    """Some rows of a file, or of a Dask collection, cannot be read."""


class ClusterLostError(ScedaeError, ConnectionError):
    """The scheduler of Dask went away in the middle of the work."""


class CollapsedMemberWarning(UserWarning):
    """An autoencoder collapsed and was left out of the ensemble."""


class DegenerateDataWarning(UserWarning):
    """The data allow an answer, but it means little."""


class UnstableClustersWarning(UserWarning):
    """Halves of the ensemble find other clusters: there may be none, or not so many."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own code, however deep the reason is found."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("scedae"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
