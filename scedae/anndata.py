"""Clusters of cells, in place, as scanpy's tools do it.

Needs anndata (``pip install 'scedae[anndata]'``), which importing ``scedae`` does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

try:
    import anndata
    import pandas as pd
except ImportError as error:
    raise ImportError(
        "AnnData needs anndata: pip install 'scedae[anndata]'."
    ) from error

from scedae._estimator import SCEDAE

__all__ = ["cluster", "read_rows"]

# What scanpy's recipes leave behind for clustering, the best first.
_REPRESENTATIONS = ("X_scVI", "X_pca_harmony", "X_pca")

# Numbers of a backed matrix that are brought into memory, and of one block of it.
_MOST_IN_MEMORY = 1 << 28
_BLOCK_NUMBERS = 1 << 22


def cluster(
    adata: Any,
    n_clusters: int | str = "auto",
    *,
    use_rep: str | None = None,
    key_added: str = "scedae",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the cells of an AnnData object, in place.

    Parameters
    ----------
    adata : AnnData or path
        Cells in memory or backed by a file (``anndata.read_h5ad(path, backed="r")``);
        a path is opened so. A backed ``X`` of over 2^28 numbers is never brought into
        memory: it is copied, a block at a time, to a temporary file of that size.
    n_clusters : int or "auto", default="auto"
    use_rep : str, default=None
        A key of ``obsm``, or "X". None takes "X_scVI", "X_pca_harmony" or "X_pca", the
        first that is there, else "X".
    key_added : str, default="scedae"
        Labels go to ``obs[key_added]`` (categories of text, as scanpy has them),
        confidence to ``obs[f"{key_added}_confidence"]``, the embedding to
        ``obsm[f"X_{key_added}"]``, and parameters to ``uns[key_added]``.
    copy : bool, default=False
        Return a copy with the result instead of changing ``adata``.
    **parameters
        Of :class:`scedae.SCEDAE`.

    Returns
    -------
    adata : AnnData
        None if it was changed in place; the object if a path was given, or a copy.
    """
    opened = isinstance(adata, str | os.PathLike)
    if opened:
        adata = anndata.read_h5ad(adata, backed="r")
    if copy:
        adata = adata.copy()
    rep = _representation(adata, use_rep)
    with _rows(adata, rep) as rows:
        model = SCEDAE(n_clusters, **parameters).fit(rows)
        embedding = getattr(model, "embedding_", None)
        if embedding is None:
            embedding = np.array(model.transform(rows))
    labels = pd.Categorical(
        values=np.asarray(model.labels_).astype("U"),
        categories=[str(c) for c in range(len(model.cluster_centers_))],
    )
    adata.obs[key_added] = labels
    adata.obs[f"{key_added}_confidence"] = np.array(model.confidence_)
    adata.obsm[f"X_{key_added}"] = np.asarray(embedding)
    adata.uns[key_added] = {
        "params": {
            **{name: str(value) for name, value in parameters.items()},
            "n_clusters": str(n_clusters),
            "use_rep": rep,
            "random_state": int(model.seed_),
        },
        "stability": float(model.stability_),
    }
    return adata if opened or copy else None


def read_rows(path: Path) -> tuple[np.ndarray, Any]:
    """The rows of a file that ``cluster`` would take, and its table ``obs``."""
    adata = anndata.read_h5ad(path, backed="r")
    with _rows(adata, _representation(adata, None)) as found:
        rows = np.load(found) if isinstance(found, Path) else found
    obs = adata.obs
    adata.file.close()
    return _dense(rows), obs


def _representation(adata: Any, use_rep: str | None) -> str:
    known = list(adata.obsm.keys())
    if use_rep is None:
        return next((rep for rep in _REPRESENTATIONS if rep in known), "X")
    if use_rep != "X" and use_rep not in known:
        there = ", ".join(map(repr, (*known, "X")))
        raise ValueError(f"use_rep={use_rep!r} is not there; there is {there}.")
    return use_rep


@contextmanager
def _rows(adata: Any, rep: str) -> Iterator[Any]:
    """A matrix in memory, dense or sparse; or the path of a large one."""
    if rep != "X":
        yield np.asarray(adata.obsm[rep])
    elif not adata.isbacked:
        yield adata.X
    elif adata.n_obs * adata.n_vars <= _MOST_IN_MEMORY:
        yield adata.X[:]
    else:
        # Windows deletes nothing that is still mapped.
        with TemporaryDirectory(prefix="scedae-", ignore_cleanup_errors=True) as folder:
            yield _copied(adata, Path(folder) / "rows.npy")


def _copied(adata: Any, path: Path) -> Path:
    """The rows of a backed X as a file of which rows can be read, block by block."""
    shape = (adata.n_obs, adata.n_vars)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    height = max(_BLOCK_NUMBERS // shape[1], 1)
    for start in range(0, shape[0], height):
        rows[start : start + height] = _dense(adata.X[start : start + height])
    rows.flush()
    return path


def _dense(rows: Any) -> np.ndarray:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()
