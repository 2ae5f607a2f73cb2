"""The recipes of the quality benchmark: ours, and what users would pick instead.

Every recipe is told the number of clusters. Peers get the rows as they are, as float32;
scaling them is a part of our recipes, not of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

import scedae
from scedae import SCEDAE, LandmarkSpectralClustering
from scedae.baselines import AutoencoderKMeans, AutoencoderLSC


class UmapMixture:
    """UMAP as its guide to clustering has it, then a Gaussian mixture.

    30 neighbours, no minimal distance, 10 dimensions; scikit-learn's defaults for the
    mixture. With a seed UMAP works on one core.
    """

    def __init__(self, n_clusters: int, seed: int) -> None:
        self.n_clusters, self.seed = n_clusters, seed

    def fit_predict(self, X: np.ndarray) -> np.ndarray:
        from umap import UMAP

        reduced = UMAP(
            n_neighbors=30,
            min_dist=0.0,
            n_components=10,
            random_state=self.seed,
            n_jobs=1,
        ).fit_transform(X)
        mixture = GaussianMixture(self.n_clusters, random_state=self.seed)
        # Packed as tightly as here, covariances in float32 are not always positive.
        return mixture.fit_predict(reduced.astype(np.float64))


class Evoc:
    """EVoC, asked for the number of clusters; some rows are noise, with label -1.

    As it is, the noise counts as a cluster of its own. With ``nearest`` its rows go to
    the cluster of the nearest clustered row, by the cosine, EVoC's own distance.
    """

    def __init__(self, n_clusters: int, seed: int, nearest: bool = False) -> None:
        self.n_clusters, self.seed, self.nearest = n_clusters, seed, nearest

    def fit_predict(self, X: np.ndarray) -> np.ndarray:
        from evoc import EVoC

        # Its own 4 dimensions are more than some shapes have, which is an error.
        few = X.shape[1] if X.shape[1] < 4 else None
        labels = EVoC(
            approx_n_clusters=self.n_clusters,
            node_embedding_dim=few,
            random_state=self.seed,
        ).fit_predict(X)
        return give_noise_away(X, labels) if self.nearest else labels


def give_noise_away(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels without -1: those rows follow the nearest row that has a label."""
    noise = labels < 0
    if noise.all() or not noise.any():
        return labels
    X = normalize(X)
    found = NearestNeighbors(n_neighbors=1).fit(X[~noise])
    labels = labels.copy()
    labels[noise] = labels[~noise][found.kneighbors(X[noise])[1].ravel()]
    return labels


@dataclass(frozen=True)
class Recipe:
    make: Callable[[int, int], Any]  # number of clusters, seed → has fit_predict
    packages: tuple[str, ...] = ()  # of a peer
    compiles: bool = False  # while it first runs, which is no part of its time
    max_rows: int | None = None

    def missing(self) -> str | None:
        """The first of its packages that is not installed."""
        for package in self.packages:
            try:
                version(package)
            except PackageNotFoundError:
                return package
        return None

    def versions(self) -> dict[str, str]:
        peers = {package: version(package) for package in self.packages}
        return peers or {"scedae": scedae.__version__, "torch": torch.__version__}


RECIPES: dict[str, Recipe] = {
    "fast": Recipe(lambda k, seed: SCEDAE(k, effort="fast", random_state=seed)),
    "default": Recipe(lambda k, seed: SCEDAE(k, random_state=seed)),
    "best": Recipe(lambda k, seed: SCEDAE(k, effort="best", random_state=seed)),
    **{
        f"paper-{ensemble}": Recipe(
            lambda k, seed, ensemble=ensemble: SCEDAE.paper(
                k, ensemble, random_state=seed
            )
        )
        for ensemble in ("structure", "initialization", "epochs", "landmarks")
    },
    "dae-kmeans": Recipe(lambda k, seed: AutoencoderKMeans(k, random_state=seed)),
    "dae-lsc": Recipe(lambda k, seed: AutoencoderLSC(k, random_state=seed)),
    "lsc": Recipe(lambda k, seed: LandmarkSpectralClustering(k, random_state=seed)),
    "kmeans": Recipe(
        lambda k, seed: KMeans(k, n_init=10, random_state=seed), ("scikit-learn",)
    ),
    "spectral": Recipe(
        lambda k, seed: SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=10, random_state=seed
        ),
        ("scikit-learn",),
        max_rows=20_000,
    ),
    "umap-gmm": Recipe(
        UmapMixture, ("umap-learn", "numba", "scikit-learn"), compiles=True
    ),
    "evoc": Recipe(Evoc, ("evoc", "numba"), compiles=True),
    "evoc-nearest": Recipe(
        lambda k, seed: Evoc(k, seed, nearest=True),
        ("evoc", "numba", "scikit-learn"),
        compiles=True,
    ),
}
