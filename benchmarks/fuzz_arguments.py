"""Hostile calls of the estimators: rows, containers and parameters of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
import torch

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae.baselines import DCN, DKM, IDEC, AutoencoderKMeans, AutoencoderLSC
from scedae.exceptions import ScedaeError

# TypeError: rows or parameters of a kind that can never be used.
DOCUMENTED = (ScedaeError, ValueError, TypeError, MemoryError)
Cases = Iterator[tuple[str, Callable[[], object]]]

_ESTIMATORS = (
    SCEDAE,
    LandmarkSpectralClustering,
    AutoencoderKMeans,
    AutoencoderLSC,
    DCN,
    DKM,
    IDEC,
)
_DTYPES = [
    "f2",
    "f4",
    "f8",
    ">f4",
    "i1",
    "u1",
    "i8",
    "u8",
    "?",
    "O",
    "c8",
    "S3",
    "M8[s]",
]
_SPECIAL = [np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 1e38, 0.0]


def _rows(rng: np.random.Generator) -> np.ndarray:
    shape = (int(rng.choice([0, 1, 2, 3, 5, 17, 40])), int(rng.choice([0, 1, 2, 3, 9])))
    kind = int(rng.integers(6))
    X = rng.standard_normal(shape) * 10.0 ** float(rng.integers(-3, 6))
    if kind == 1:
        X = np.zeros(shape)
    elif kind == 2:
        X = np.repeat(X[:1], len(X), axis=0) if len(X) else X
    elif kind == 3 and X.size:
        X.flat[int(rng.integers(X.size))] = _SPECIAL[int(rng.integers(len(_SPECIAL)))]
    elif kind == 4:
        X = np.abs(X).round()
    return X


def _typed(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if rng.random() < 0.6:
        return X
    with np.errstate(all="ignore"):
        whole = np.nan_to_num(X, posinf=0, neginf=0)
        dtype = _DTYPES[int(rng.integers(len(_DTYPES)))]
        plain = X if np.dtype(dtype).kind in "fOc" else whole.clip(-9e15, 9e15)
        return (
            plain.astype("i8").astype(dtype) if "M8" in dtype else plain.astype(dtype)
        )


def _contained(X: np.ndarray, rng: np.random.Generator) -> object:
    """The rows in some container, not always a fitting one."""
    kind = int(rng.integers(14))
    if kind == 0:
        return X.tolist()
    if kind == 1 and X.dtype.kind not in "c":
        return pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    if kind == 2 and X.dtype.kind in "fiu" and X.dtype.isnative:
        return pl.DataFrame(X.astype("f8"))
    if kind == 3 and X.dtype.kind in "fiu":
        return sp.csr_matrix(X.astype("f8"))
    if kind == 4 and X.dtype in (np.float32, np.float64, np.int64):
        return torch.from_numpy(np.ascontiguousarray(X))
    if kind == 5:
        return np.asfortranarray(X)
    if kind == 6:
        return X[::-1, ::-1]
    if kind == 7:
        return np.ma.array(X, mask=rng.random(X.shape) < 0.05)
    if kind == 8:
        return X[0] if len(X) else X
    if kind == 9:
        return X[None]
    return X


_PARAMETERS: dict[str, list[object]] = {
    "n_clusters": [
        1,
        2,
        3,
        np.int8(2),
        np.int64(3),
        0,
        -1,
        2.5,
        "auto",
        "x",
        None,
        True,
    ],
    "hidden_layers": [
        (3,),
        (4, 3),
        range(2, 4),
        [3],
        np.array([3, 2]),
        (),
        (0,),
        "x",
        3,
    ],
    "encoding_dim": [1, 2, np.uint8(2), 0, 1.5, None],
    "epochs": [1, np.int16(2), 0, "x", 1.5],
    "batch_size": [1, 7, 10**9, np.int32(4), 0, "x"],
    "learning_rate": [1e-3, np.float32(0.01), 10.0, 0, -1, float("nan"), "x"],
    "scale": [
        "auto",
        "none",
        "raw",
        "log",
        "l2",
        "minmax",
        "standard",
        "range",
        "x",
        None,
    ],
    "n_landmarks": [2, 5, 10**9, np.int16(4), 1, "x"],
    "n_neighbors": [2, 3, 10**9, 1, 0, "x"],
    "n_directions": [None, 1, 10**9, 0, "x"],
    "n_row_members": [0, 1, np.int8(1), -1, None],
    "embedding": ["lsc", "diffusion", "x"],
    "effort": ["fast", "default", "x"],
    "random_state": [0, np.int64(7), None, -1, "x", np.random.RandomState(0)],
    "device": ["cpu", "cpu:0", "meta", "x", torch.device("cpu"), 3],
    "precision": ["auto", "float32", "bfloat16", "x"],
    "schedule": ["constant", "one-cycle", "x"],
    "verbose": [0, -1, "x"],
    "pretrain_epochs": [1, 0],
    "update_interval": [1, 0],
    "clustering_weight": [0.1, 0, -1],
}
_QUICK = {"hidden_layers": (3,), "epochs": 1, "encoding_dim": 2, "n_members": 2}
_QUICK |= {"pretrain_epochs": 1, "random_state": 0}


def _settings(kind: type, rng: np.random.Generator) -> dict[str, object]:
    known = kind._get_param_names()
    settings = {name: value for name, value in _QUICK.items() if name in known}
    settings["n_clusters"] = int(rng.integers(1, 4))
    for name in rng.permutation([n for n in _PARAMETERS if n in known])[:2]:
        if rng.random() < 0.5:
            values = _PARAMETERS[str(name)]
            settings[str(name)] = values[int(rng.integers(len(values)))]
    return settings


def _sane(model: object, X: object) -> None:
    """Labels of clusters, finite coordinates, and the same for the same rows."""
    n_centers = len(model.cluster_centers_)  # type: ignore[attr-defined]
    labels = np.asarray(model.labels_)  # type: ignore[attr-defined]
    assert labels.min() >= 0 and labels.max() < n_centers, "labels out of range"
    embedding = np.asarray(model.transform(X))  # type: ignore[attr-defined]
    assert np.isfinite(embedding).all(), "coordinates are not finite"
    assert (np.asarray(model.predict(X)) == labels).all(), "predict says another thing"  # type: ignore[attr-defined]
    if hasattr(model, "confidence_"):
        sure = np.asarray(model.confidence_)
        assert (sure >= 0).all() and (sure <= 1).all(), "confidence out of range"


def calls(rng: np.random.Generator, folder: Path) -> Cases:
    def call(
        kind: type, settings: dict[str, object], X: object, default: object
    ) -> None:
        former = torch.get_default_dtype()
        torch.set_default_dtype(default)  # type: ignore[arg-type]
        try:
            model = kind(**settings)
            try:
                model.fit(X)
            except DOCUMENTED:
                assert not hasattr(model, "pipeline_"), "half a fit is left"
                raise
            _sane(model, X)
        finally:
            assert torch.get_default_dtype() == default, "the default dtype changed"
            torch.set_default_dtype(former)

    fitted = [_fitted(kind) for kind in _ESTIMATORS]
    while True:
        place = int(rng.integers(len(_ESTIMATORS)))
        kind = _ESTIMATORS[place]
        settings = _settings(kind, rng)
        X = _contained(_typed(_rows(rng), rng), rng)
        default = torch.float64 if rng.random() < 0.2 else torch.float32
        shown = f"{type(X).__name__} {getattr(X, 'shape', '')}"
        shown += f" {getattr(X, 'dtype', '')}"
        if rng.random() < 0.2:
            apply = lambda m=fitted[place], X=X: _apply(m, X)  # noqa: E731
            yield f"{kind.__name__}.predict {shown}", apply
        else:
            fit = lambda k=kind, s=settings, X=X, d=default: call(k, s, X, d)  # noqa: E731
            yield f"{kind.__name__} {settings} {shown}", fit


_ROWS = np.random.default_rng(0).standard_normal((40, 3))


def _fitted(kind: type) -> tuple[object, np.ndarray]:
    """An estimator that knows rows of three columns, and its labels of them."""
    known = kind._get_param_names()
    settings = {name: value for name, value in _QUICK.items() if name in known}
    model = kind(2, **settings).fit(_ROWS)
    return model, model.labels_.copy()


def _apply(known: tuple[object, np.ndarray], X: object) -> None:
    """New rows of any kind: labels in range, and the model stays what it is."""
    model, labels = known
    try:
        found = np.asarray(model.predict(X))  # type: ignore[attr-defined]
        assert found.min() >= 0 and found.max() < len(model.cluster_centers_)  # type: ignore[attr-defined]
        assert np.isfinite(model.transform(X)).all(), "coordinates are not finite"  # type: ignore[attr-defined]
    finally:
        again = model.predict(_ROWS)  # type: ignore[attr-defined]
        assert (again == labels).all(), "the model has changed"


def collections(rng: np.random.Generator, folder: Path) -> Cases:
    """Dask arrays and frames: empty, unknown, ragged and mixed partitions."""
    import dask
    import dask.array as da
    import dask.dataframe as dd

    dask.config.set(scheduler="synchronous")

    def call(X: object) -> None:
        model = LandmarkSpectralClustering(2, n_landmarks=5, random_state=0)
        model.fit(X)
        labels = np.asarray(model.labels_)
        assert len(labels) and labels.min() >= 0 and labels.max() < 2
        assert (np.asarray(model.predict(X)) == labels).all(), "predict differs"

    while True:
        n_rows, n_columns = int(rng.integers(0, 60)), int(rng.integers(1, 5))
        X = rng.standard_normal((n_rows, n_columns))
        if n_rows and rng.random() < 0.1:
            X[int(rng.integers(n_rows)), 0] = np.nan
        cuts = sorted(rng.integers(0, n_rows + 1, int(rng.integers(0, 5))))
        edges = [0, *map(int, cuts), n_rows]
        heights = [b - a for a, b in pairwise(edges)]
        kind = int(rng.integers(5))
        if kind == 0:
            made: object = da.from_array(X, chunks=(tuple(heights), (n_columns,)))
        elif kind == 1:
            made = da.from_array(
                X, chunks=(max(n_rows // 3, 1), max(n_columns // 2, 1))
            )
        else:
            names = [f"c{i}" for i in range(n_columns)]
            frames = [pd.DataFrame(X[a:b], columns=names) for a, b in pairwise(edges)]
            if kind == 2 and len(frames) > 1:
                frames[-1] = frames[-1].astype("f4")
            if kind == 3 and len(frames) > 1:
                frames[-1] = frames[-1].rename(columns={"c0": "other"})
            parts = [dask.delayed(frame) for frame in frames]
            made = dd.from_delayed(parts, meta=frames[0].iloc[:0], verify_meta=False)
            if kind == 4:
                made = made[made["c0"] > 0]  # type: ignore[index]
        name = f"{type(made).__name__} of {heights}, kind {kind}"
        yield name, lambda X=made: call(X)
