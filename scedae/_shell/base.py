"""The shell all estimators share: validate, fit, apply in blocks, save, load."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from numbers import Integral
from operator import add
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from scedae._constraints import Interval, StrOptions
from scedae._device import resolve_device
from scedae._members import MemberSpec
from scedae._plain_torch import plain_torch
from scedae._progress import Progress
from scedae._random import root_seed
from scedae._rows import (
    Result,
    Rows,
    Statistics,
    gather_statistics,
)
from scedae._shell.applying import (
    FittedModel,
    ModelKernel,
    coordinates_of,
    for_blocks,
    labels_of,
    squared_distance_of,
)
from scedae._storage.archive import Archive, read_archive, write_archive
from scedae._storage.model_file import Packed, unpack_spec
from scedae._threads import one_blas_thread, own_threads
from scedae._validation import (
    check_enough_rows,
    check_rows,
    warn_if_degenerate,
)
from scedae.exceptions import ModelFileError


@contextmanager
def at_work() -> Iterator[None]:
    """What a user has set for torch changes nothing inside, and is as it was after."""
    with plain_torch(), own_threads():
        yield


@dataclass(frozen=True)
class FitContext:
    """What every fit needs beside its own parameters."""

    rows: Rows
    statistics: Statistics
    seed: int
    progress: Progress


# Constraints of the parameters that several estimators have.
COMMON_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "device": [str, torch.device],
    "random_state": ["random_state", np.random.Generator],
    "verbose": ["verbose"],
}
SPECTRAL_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
    # With one neighbour every landmark would be a graph of its own.
    "n_neighbors": [Interval(Integral, 2, None, closed="left")],
}


class BaseClusterer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Base of the estimators: subclasses say how to fit and how to be packed."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    # Whether a fit can learn from rows that do not lie in memory.
    _learns_from_streams = False

    n_clusters: int | str
    device: str | torch.device
    random_state: Any
    verbose: int

    @abstractmethod
    def _fit(self, context: FitContext) -> None:
        """Set ``labels_``, ``embedding_``, ``pipeline_`` and what is special."""

    @abstractmethod
    def _pack(self) -> Packed:
        """JSON-like description and tensors of what was learnt."""

    @abstractmethod
    def _unpack(self, info: dict[str, Any], archive: Archive) -> None:
        """The reverse of ``_pack``."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, DataFrame, torch tensor, sparse matrix, path, memory-mapped \
array or Dask collection of shape (n_samples, n_features)
            Numeric rows without missing values. A path names an .npy file, a Zarr
            array, or a Parquet file or folder. Files of many rows and Dask collections
            are not brought into memory; ``docs/scaling.md`` says what that changes.
        y : ignored
            Present for the API; labels never enter a fit.

        Returns
        -------
        self
        """
        self._validate_params()
        before = dict(vars(self))
        try:
            with at_work(), one_blas_thread, Progress(self.verbose) as progress:
                context = self._context(X, progress)
                self._fit(context)
            self._conclude(context)
        except BaseException:
            # Whatever happened, Ctrl-C or a warning that is an error: the estimator is
            # as it was.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _context(self, X: Any, progress: Progress) -> FitContext:
        """Checked rows, where the fit will run, and what is known of them."""
        rows = check_rows(self, X, reset=True, in_memory=not self._learns_from_streams)
        check_enough_rows(rows.n_rows, self.n_clusters)
        if not rows.all_at_hand:
            progress.stage("read")
        rows = rows.brought()
        seed = root_seed(self.random_state)
        return FitContext(rows, gather_statistics(rows), seed, progress)

    def _conclude(self, context: FitContext) -> None:
        """What every fit leaves behind, and a word if the answer is degenerate."""
        self.seed_ = context.seed
        self.n_clusters_ = context.rows.n_distinct(self.labels_)
        self._fitted_parameters = self._json_parameters()
        warn_if_degenerate(
            self.n_clusters_,
            len(self._model().centers),
            constant=context.statistics.constant,
        )

    def predict(self, X: Any, *, out: str | os.PathLike[str] | None = None) -> Any:
        """The cluster of each row, by the road the training rows took.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)
        out : path, default=None
            An .npy file to write; it appears when it is complete. Not for Dask.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A lazy Dask array for a Dask collection. For a file too large to be
            brought into memory, or with ``out``, a memory-mapped one (without ``out``
            of a temporary file that vanishes with it).
        """
        (labels,) = self._apply(X, labels_of, [Result(np.int64)], out)
        return labels

    def transform(self, X: Any, *, out: str | os.PathLike[str] | None = None) -> Any:
        """Coordinates of each row in the embedding.

        Parameters
        ----------
        X : as in ``fit``, of shape (n_samples, n_features)
        out : path, default=None
            As in ``predict``.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            Lazy or memory-mapped as in ``predict``.
        """
        wide = Result(np.float64, self._n_features_out)
        (embedding,) = self._apply(X, coordinates_of, [wide], out)
        return embedding

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Cluster the rows of X and return their coordinates."""
        self.fit(X)
        if self._has_embedding:
            return self.embedding_.copy()
        return self.transform(X)  # not kept, since the rows do not lie in memory

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared distance of rows to their centre; larger is better.

        Made for model selection without labels, among settings of equal embedding
        width. With labels, pass ``scoring`` to the search instead.
        """
        with at_work():
            return self._score(X)

    def _score(self, X: Any) -> float:
        model = self._model()
        rows = check_rows(self, X, reset=False)
        sums = rows.total(for_blocks(squared_distance_of, model, rows), add)
        distance, count = sums.tolist()
        return -distance / count

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file (safetensors, no pickle).

        The parameters written are those of the fit, with ``seed_`` for the seed. What
        was said of the training rows is written if they lay in memory.
        """
        check_is_fitted(self, "pipeline_")
        info, tensors = self._pack()
        names = getattr(self, "feature_names_in_", None)
        of_rows: dict[str, torch.Tensor] = {}
        streamed: dict[str, Any] = {}
        if self._has_embedding:
            of_rows["labels"] = torch.from_numpy(self.labels_)
            of_rows["embedding"] = torch.from_numpy(self.embedding_)
        else:
            streamed["n_clusters_streamed"] = self.n_clusters_
        write_archive(
            path,
            Archive(
                {
                    "estimator": type(self).__name__,
                    "parameters": self._fitted_parameters,
                    "seed": self.seed_,
                    "n_features_in": self.n_features_in_,
                    "feature_names_in": None if names is None else list(names),
                    "model": info,
                    **streamed,
                },
                tensors | of_rows,
            ),
        )

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, device: str | torch.device = "auto"
    ) -> Self:
        """Read an estimator written by ``save``; it predicts as before.

        Parameters
        ----------
        path : str or path
        device : str, default="auto"
            Where to predict; need not be the device of the fit. The loaded
            estimator has it as its parameter.
        """
        archive = read_archive(path)
        info = archive.info
        if info.get("estimator") != cls.__name__:
            raise ModelFileError(
                f"{str(path)!r} holds a {info.get('estimator')}, not a {cls.__name__}."
            )
        try:
            loaded = cls(**_python_parameters(info["parameters"]))
            loaded._validate_params()
            loaded._fitted_parameters = info["parameters"]
            loaded.n_features_in_ = int(info["n_features_in"])
            if info["feature_names_in"] is not None:
                names = np.asarray(info["feature_names_in"], dtype=object)
                loaded.feature_names_in_ = names
            loaded.seed_ = int(info["seed"])
            if "n_clusters_streamed" in info:
                loaded.n_clusters_ = int(info["n_clusters_streamed"])
                loaded._unpack(info["model"], archive)
            else:
                loaded.labels_ = archive.integers("labels").numpy()
                loaded.n_clusters_ = len(np.unique(loaded.labels_))
                loaded._unpack(info["model"], archive)
                loaded.embedding_ = archive.tensor(
                    "embedding", len(loaded.labels_), loaded._n_features_out
                ).numpy()
            n_centers = len(loaded.pipeline_.centers)
            if n_centers != loaded.n_clusters and loaded.n_clusters != "auto":
                raise ModelFileError(f"{str(path)!r} lacks centres of clusters.")
        except ModelFileError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ModelFileError(
                f"{str(path)!r} is damaged: its description is incomplete ({error!r})."
            ) from error
        loaded.device = str(resolve_device(device)) if device != "auto" else "auto"
        return loaded

    def _json_parameters(self) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        # Whatever generator was passed, this number repeats the fit.
        parameters["random_state"] = self.seed_
        # A place on this machine, and no part of what was learnt.
        parameters.pop("checkpoint_dir", None)
        return {name: _json_value(value) for name, value in parameters.items()}

    def _model(self) -> FittedModel:
        check_is_fitted(self, "pipeline_")
        return self.pipeline_

    def _apply(
        self,
        X: Any,
        kernel: ModelKernel,
        results: Sequence[Result],
        out: str | os.PathLike[str] | None = None,
    ) -> tuple[Any, ...]:
        """What a kernel makes of each row of X, in the form that fits X."""
        with at_work():
            return self._applied(X, kernel, results, out)

    def _applied(
        self,
        X: Any,
        kernel: ModelKernel,
        results: Sequence[Result],
        out: str | os.PathLike[str] | None,
    ) -> tuple[Any, ...]:
        model = self._model()
        path = None if out is None else Path(out)
        rows = check_rows(self, X, reset=False)
        return rows.each(for_blocks(kernel, model, rows), results, out=path)

    @property
    def _has_embedding(self) -> bool:
        """Whether the rows of the fit lay in memory."""
        return hasattr(self, "embedding_")

    @property
    def _n_features_out(self) -> int:
        return self._model().centers.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _json_value(value: Any) -> Any:
    if isinstance(value, MemberSpec):
        return {"member": asdict(value)}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, torch.device):
        return str(value)
    return value


def _python_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    def restore(value: Any) -> Any:
        if isinstance(value, dict):
            return unpack_spec(value["member"])
        if isinstance(value, list):
            return tuple(restore(item) for item in value)
        return value

    return {name: restore(value) for name, value in parameters.items()}
