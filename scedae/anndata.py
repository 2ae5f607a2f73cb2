"""Clusters of cells, in place, as scanpy's tools do it.

Needs anndata (``pip install 'scedae[anndata]'``), which importing ``scedae`` does not.
"""

from __future__ import annotations

import os
from pathlib import Path
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
        a path is opened so. Rows of a backed ``X`` are read a block at a time.
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
    model = SCEDAE(n_clusters, **parameters).fit(_rows(adata, rep))
    labels = pd.Categorical(
        values=model.labels_.astype("U"),
        categories=[str(c) for c in range(len(model.cluster_centers_))],
    )
    adata.obs[key_added] = labels
    adata.obs[f"{key_added}_confidence"] = model.confidence_
    adata.obsm[f"X_{key_added}"] = np.asarray(model.embedding_)
    adata.uns[key_added] = {
        "params": {
            "n_clusters": str(n_clusters),
            "use_rep": rep,
            "random_state": int(model.seed_),
            **{name: str(value) for name, value in parameters.items()},
        },
        "stability": float(model.stability_),
    }
    return adata if opened or copy else None


def read_rows(path: Path) -> tuple[np.ndarray, Any]:
    """The rows of a file that ``cluster`` would take, and its table ``obs``."""
    adata = anndata.read_h5ad(path, backed="r")
    rows = _rows(adata, _representation(adata, None))
    if not isinstance(rows, np.ndarray):
        rows = rows.toarray()
    obs = adata.obs
    adata.file.close()
    return rows, obs


def _representation(adata: Any, use_rep: str | None) -> str:
    known = list(adata.obsm.keys())
    if use_rep is None:
        return next((rep for rep in _REPRESENTATIONS if rep in known), "X")
    if use_rep != "X" and use_rep not in known:
        there = ", ".join(map(repr, (*known, "X")))
        raise ValueError(f"use_rep={use_rep!r} is not there; there is {there}.")
    return use_rep


def _rows(adata: Any, rep: str) -> Any:
    """A matrix in memory, dense or sparse; of a backed file it is read now."""
    if rep != "X":
        return np.asarray(adata.obsm[rep])
    rows = adata.X
    if adata.isbacked:
        rows = rows[:]
    return rows
