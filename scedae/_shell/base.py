"""The shell all estimators share: validate, fit, apply in blocks, save, load."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
from scedae._model import FittedView
from scedae._plain_torch import plain_torch
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._rows import Result, Rows
from scedae._shell.applying import (
    FittedModel,
    ModelKernel,
    coordinates_of,
    for_blocks,
    labels_of,
    squared_distance_of,
)
from scedae._shell.picture import clusters_html
from scedae._shell.viewing import open_for, views_to_learn
from scedae._storage import (
    Archive,
    Packed,
    Record,
    pack_spec,
    pack_view,
    read_archive,
    unpack_spec,
    unpack_view,
    write_archive,
)
from scedae._threads import one_blas_thread, own_threads
from scedae._validation import check_enough_rows, check_rows, warn_if_degenerate
from scedae._version import __version__
from scedae._views import is_views
from scedae.exceptions import ModelFileError


@contextmanager
def at_work() -> Iterator[None]:
    """What a user has set for torch changes nothing inside, and is as it was after."""
    with plain_torch(), own_threads():
        yield


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Whatever happens, Ctrl-C or a warning that is an error: it is as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


# What a fit may need too much memory for.
_SIZES = ("hidden_layers", "encoding_dim", "batch_size", "n_members", "n_landmarks")


@contextmanager
def named_memory_errors(estimator: BaseEstimator) -> Iterator[None]:
    """Too little memory is an error that says which parameters ask for it."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has no class for it on a CPU.
        words = ("allocate", "out of memory", "Storage size calculation overflowed")
        if isinstance(error, RuntimeError) and not any(w in str(error) for w in words):
            raise
        sizes = estimator.get_params(deep=False)
        asked = ", ".join(f"{name}={sizes[name]!r}" for name in _SIZES if name in sizes)
        raise MemoryError(
            f"there is not enough memory for {asked} on these rows: take smaller or "
            f"fewer of them. {str(error)[:200]}"
        ) from error


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
    # And from several matrices of the same rows.
    _learns_from_views = False

    n_clusters: int | str
    device: str | torch.device
    random_state: Any
    verbose: int
    views_: dict[str, FittedView]  # only of a fit on several

    @abstractmethod
    def _prepare(self, rows: Rows, progress: Progress) -> Prepared:
        """Parameters, for these rows, as what the fit starts from."""

    @abstractmethod
    def _run(self, start: Prepared) -> Any:
        """Learn from the rows; nothing is stored."""

    @abstractmethod
    def _keep(self, start: Prepared, result: Any) -> None:
        """Set ``labels_``, ``embedding_``, ``pipeline_`` and what is special."""

    @abstractmethod
    def _pack(self) -> Packed:
        """JSON-like description and tensors of what was learnt."""

    @abstractmethod
    def _unpack(self, record: Record, archive: Archive) -> None:
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
            A list or a dict of such matrices (or of :class:`scedae.View`) is several
            views of the same rows, for ``SCEDAE`` and ``LandmarkSpectralClustering``;
            ``predict`` and its like then take the same views, also with some missing.
        y : ignored
            Present for the API; labels never enter a fit.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_on_error(self), named_memory_errors(self):
            with at_work(), one_blas_thread, Progress(self.verbose) as progress:
                rows = self._check(X, progress).brought()
                start = self._prepare(rows, progress)
                result = self._run(start)
            self._store(start, result)
        return self

    def _check(self, X: Any, progress: Progress) -> Rows:
        """Rows that can be learnt from, or one clear error."""
        self.__dict__.pop("views_", None)  # of an earlier fit, perhaps
        if is_views(X):
            rows = views_to_learn(self, X, able=self._learns_from_views)
        else:
            in_memory = not self._learns_from_streams
            rows = check_rows(self, X, reset=True, in_memory=in_memory)
        check_enough_rows(rows.n_rows, self.n_clusters)
        if not rows.all_at_hand:
            progress.stage("read")
        return rows

    def _store(self, start: Prepared, result: Any) -> None:
        """What every fit leaves behind, and a word if the answer is degenerate."""
        self._keep(start, result)
        self.seed_ = start.seed
        self.n_clusters_ = start.rows.n_distinct(self.labels_)
        self._fitted_parameters = self._json_parameters()
        warn_if_degenerate(
            self.n_clusters_,
            len(self._model().centers),
            constant=start.rows_are_equal,
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

    @at_work()
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared distance of rows to their centre; larger is better.

        Made for model selection without labels, among settings of equal embedding
        width. With labels, pass ``scoring`` to the search instead.
        """
        model, rows = open_for(self, self._model(), X)
        sums = rows.total(for_blocks(squared_distance_of, model, rows), add)
        distance, count = sums.tolist()
        return -distance / count

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file (safetensors, no pickle).

        The parameters written are those of the fit, with ``seed_`` for the seed. What
        was said of the training rows is written if they lay in memory.
        """
        check_is_fitted(self, "pipeline_")
        with at_work():
            info, tensors = self._pack()
        names = getattr(self, "feature_names_in_", None)
        of_rows: dict[str, torch.Tensor] = {}
        streamed: dict[str, Any] = {}
        if self._has_embedding:
            of_rows["labels"] = torch.from_numpy(self.labels_)
            of_rows["embedding"] = torch.from_numpy(self.embedding_)
        else:
            streamed["n_clusters_streamed"] = self.n_clusters_
        about = {
            "estimator": type(self).__name__,
            "parameters": self._fitted_parameters,
            "seed": self.seed_,
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else list(names),
            "model": info,
            **streamed,
        }
        if hasattr(self, "table_"):
            about["table"] = self.table_
        if hasattr(self, "views_"):
            about["views"] = [pack_view(view) for view in self.views_.values()]
        write_archive(path, about, tensors | of_rows)

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
        try:
            loaded = cls._from_archive(archive)
        except (ModelFileError, ValueError, TypeError) as error:
            raise ModelFileError(
                f"{str(path)!r} (of scedae {archive.writer}) cannot be used by scedae "
                f"{__version__}: {error}."
            ) from error
        loaded.device = str(resolve_device(device)) if device != "auto" else "auto"
        return loaded

    @classmethod
    def _from_archive(cls, archive: Archive) -> Self:
        """An estimator out of a file, after everything in it was checked."""
        record = Record(archive.info, "the description")
        name = record.text("estimator")
        if name != cls.__name__:
            plain = name.isascii() and name.isidentifier()
            shown = name if plain else "something else"
            raise ModelFileError(f"it holds a {shown[:40]}, not a {cls.__name__}")
        loaded = cls(**cls._parameters_in(record.record("parameters")))
        loaded._validate_params()
        loaded.seed_ = record.integer("seed", 0, 2**32 - 1)
        loaded._fitted_parameters = loaded._json_parameters()
        if "views" in record:
            found = [unpack_view(each) for each in record.records("views")]
            loaded.views_ = {view.name: view for view in found}
        if "table" in record:
            # Whoever reads a table by it checks what it says.
            loaded.table_ = record.text("table")
        loaded._unpack_columns(record)
        loaded._unpack_rows(record, archive)
        record.finish()
        archive.finish()
        loaded._try_out()
        return loaded

    @classmethod
    def _parameters_in(cls, record: Record) -> dict[str, Any]:
        """Parameters of a file. It may not say where this machine writes."""
        known = set(cls._get_param_names()) - {"checkpoint_dir"}
        found = {
            name: _python_value(record.take(name), name)
            for name in known
            if name in record
        }
        record.finish()
        return found

    def _unpack_columns(self, record: Record) -> None:
        self.n_features_in_ = record.integer("n_features_in", 1)
        if record.is_null("feature_names_in"):
            return
        names = record.texts("feature_names_in")
        if len(names) != self.n_features_in_:
            raise record.wrong("feature_names_in", names)
        self.feature_names_in_ = np.asarray(names, dtype=object)

    def _unpack_rows(self, record: Record, archive: Archive) -> None:
        """What was learnt, and what was said of the training rows."""
        streamed = "n_clusters_streamed" in record
        if not streamed:
            labels = archive.tensor("labels", None, dtype=torch.int64, least=0)
            self.labels_ = labels.numpy()
        model = record.record("model")
        self._unpack(model, archive)
        model.finish()
        n_centers = len(self.pipeline_.centers)
        if self.n_clusters not in ("auto", n_centers):
            raise ModelFileError(f"it has centres of {n_centers} clusters")
        if streamed:
            self.n_clusters_ = record.integer("n_clusters_streamed", 1, n_centers)
            return
        if self.labels_.max() >= n_centers:
            raise ModelFileError("its labels are of clusters that it does not have")
        self.n_clusters_ = len(np.unique(self.labels_))
        shape = len(self.labels_), self._n_features_out
        self.embedding_ = archive.tensor("embedding", *shape).numpy()

    def _try_out(self) -> None:
        """A model that cannot place one row is refused now and not later."""
        model = self._model()
        row = model.scaler.offset[None]
        try:
            with at_work(), np.errstate(all="ignore"):
                (points,) = coordinates_of(model, model.scaler(row))
        except (ValueError, RuntimeError, IndexError) as error:
            raise ModelFileError(f"it cannot place a row ({error})") from error
        if not bool(torch.isfinite(points).all()):
            raise ModelFileError("it has numbers too large to compute with")

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

    @at_work()
    def _apply(
        self,
        X: Any,
        kernel: ModelKernel,
        results: Sequence[Result],
        out: str | os.PathLike[str] | None = None,
    ) -> tuple[Any, ...]:
        """What a kernel makes of each row of X, in the form that fits X."""
        path = None if out is None else Path(out)
        model, rows = open_for(self, self._model(), X)
        return rows.each(for_blocks(kernel, model, rows), results, out=path)

    @property
    def _has_embedding(self) -> bool:
        """Whether the rows of the fit lay in memory."""
        return hasattr(self, "embedding_")

    @property
    def _n_features_out(self) -> int:
        return self._model().centers.shape[1]

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's own, and the clusters."""
        return super()._html_repr() + clusters_html(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _json_value(value: Any) -> Any:
    if isinstance(value, MemberSpec):
        return {"member": pack_spec(value)}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_json_value(item) for item in value]  # a range of widths, a Series
    return value


def _python_value(value: Any, name: str) -> Any:
    """A parameter out of a file: a plain value, or a list of widths or members."""
    if isinstance(value, list):
        return tuple(_python_item(item, name) for item in value)
    if isinstance(value, dict):
        raise ModelFileError(f"parameter {name!r} is an object")
    return value


def _python_item(item: Any, name: str) -> Any:
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    member = Record(item, f"parameter {name!r}")
    spec = unpack_spec(member.record("member"))
    member.finish()
    return spec
