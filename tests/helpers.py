"""Small models and naive references used by several tests."""

from __future__ import annotations

import numpy as np
import torch

from scedae import SCEDAE, LandmarkSpectralClustering
from scedae._spectral import Affinity, FusedAffinity
from scedae.baselines import DCN, DKM, IDEC, AutoencoderKMeans, AutoencoderLSC

# Settings that train in a fraction of a second.
QUICK = {"hidden_layers": (12, 8, 10), "epochs": 20, "encoding_dim": 3}

JOINT = {"pretrain_epochs": 40, "learning_rate": 5e-3, "random_state": 0}

ESTIMATORS = {
    "SCEDAE": lambda k=3, **kw: SCEDAE(k, **{**QUICK, "random_state": 0, **kw}),
    "LandmarkSpectralClustering": lambda k=3, **kw: LandmarkSpectralClustering(
        k, **{"random_state": 0, **kw}
    ),
    "AutoencoderKMeans": lambda k=3, **kw: AutoencoderKMeans(
        k, **{**QUICK, "random_state": 0, **kw}
    ),
    "AutoencoderLSC": lambda k=3, **kw: AutoencoderLSC(
        k, **{**QUICK, "random_state": 0, **kw}
    ),
    **{
        estimator.__name__: lambda k=3, estimator=estimator, **kw: estimator(
            k, **{**QUICK, **JOINT, **kw}
        )
        for estimator in (DCN, DKM, IDEC)
    },
}

# Those that tie rows to landmarks.
SPECTRAL = ("SCEDAE", "LandmarkSpectralClustering", "AutoencoderLSC")

# Checks that an estimator is expected to fail, each with its reason. These two take
# whatever has predict_proba and sparse rows for a classifier, and ask for its tags;
# tests/test_probabilities.py has sparse rows of our own.
_NO_CLASSIFIER = {
    f"check_estimator_sparse_{kind}": "a clusterer has no tags of a classifier"
    for kind in ("array", "matrix")
}
EXPECTED_FAILURES = dict.fromkeys(SPECTRAL, _NO_CLASSIFIER)


def dense_affinity(encoding, landmarks, n_neighbors, bandwidth):
    """Eq. 4 by loops over rows, dense (n, p)."""
    Z = np.zeros((len(encoding), len(landmarks)))
    for i, row in enumerate(encoding):
        squared = ((row - landmarks) ** 2).sum(1)
        near = np.argsort(squared, kind="stable")[:n_neighbors]
        kernel = np.exp(-squared[near] / (2 * bandwidth**2))
        Z[i, near] = kernel / kernel.sum()
    return Z


def dense_fused(affinities):
    """Eq. 8, dense: columns over the root of their sums, side by side over √m."""
    scaled = [Z / np.sqrt(np.where(Z.sum(0) > 0, Z.sum(0), np.inf)) for Z in affinities]
    return np.hstack(scaled) / np.sqrt(len(affinities))


def as_affinity(Z):
    """A dense matrix as a FusedAffinity of two parts; zeros fill shorter rows."""
    parts = []
    for part in np.array_split(Z, 2, axis=1):
        n_entries = max(int((part != 0).sum(1).max()), 1)
        columns = np.argsort(-np.abs(part), axis=1)[:, :n_entries]
        weights = np.take_along_axis(part, columns, axis=1)
        columns = torch.from_numpy(columns).int()
        parts.append(Affinity(columns, torch.from_numpy(weights), part.shape[1]))
    return FusedAffinity(tuple(parts))


def in_formats(X, folder):
    """The same rows in every form that does not lie in memory."""
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zarr

    np.save(folder / "rows.npy", X)
    height = max(len(X) // 7, 1)
    array = zarr.create_array(
        folder / "rows.zarr",
        shape=X.shape,
        chunks=(height, X.shape[1]),
        dtype=X.dtype,
        overwrite=True,
    )
    array[:] = X
    (folder / "parquet").mkdir(exist_ok=True)
    for number, part in enumerate(np.array_split(X, 3)):
        table = pa.table({f"c{i}": column for i, column in enumerate(part.T)})
        path = folder / "parquet" / f"{number}.parquet"
        pq.write_table(table, path, row_group_size=max(len(part) // 2, 1))
    return {
        "npy": folder / "rows.npy",
        "memmap": np.load(folder / "rows.npy", mmap_mode="r"),
        "zarr": folder / "rows.zarr",
        "parquet": folder / "parquet",
        "dask": da.from_array(X, chunks=(height, -1)),
    }
