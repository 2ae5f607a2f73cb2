"""Landmark spectral clustering (LSC) on the rows themselves."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import torch

from scedae._constraints import StrOptions
from scedae._defaults import BASELINE, resolve_landmarks
from scedae._members import MemberSpec
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import RandomState, root_seed
from scedae._rows import (
    SCALES,
    AnyScaler,
    Rows,
    gather_statistics,
    learn_scaler,
    side_by_side,
)
from scedae._shell.base import COMMON_CONSTRAINTS, SPECTRAL_CONSTRAINTS
from scedae._shell.spectral import SpectralClusterer
from scedae._spectral import EMBEDDINGS, LANDMARK_METHODS


class LandmarkSpectralClustering(SpectralClusterer):
    """Spectral clustering through landmarks, in time linear in the rows.

    The last four verbs of the method without the first: anchor, fuse, embed and
    assign on the rows as they are. Fast, and a good baseline for :class:`SCEDAE`.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
    landmarks : {"kmeans", "random"}, default="kmeans"
        Centres of a short k-means, or rows drawn at random.
    n_landmarks : "auto" or int, default="auto"
        ``"auto"``: a share of the rows (``scedae._defaults.BASELINE``).
    n_neighbors : int, default=5
        Nearest landmarks each row is tied to.
    embedding : {"lsc", "diffusion"}, default="lsc"
        See :class:`SCEDAE`.
    scale : {"none", "auto", "raw", "range", "log", "minmax", "l2", "standard", \
"power"}, default="none"
        Distances are taken between rows scaled like this.
    device : str or torch.device, default="auto"
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    labels_, confidence_, embedding_, cluster_centers_, singular_values_, members_, \
member_agreement_, stability_, suggestion_, pipeline_, seed_
        As in :class:`SCEDAE`.

    References
    ----------
    Chen, Cai. Large scale spectral clustering with landmark-based representation.
    AAAI 2011.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering
    >>> from scedae.datasets import make_chainlink
    >>> X, y = make_chainlink(400, random_state=0)
    >>> labels = LandmarkSpectralClustering(2, random_state=0).fit_predict(X)
    >>> sorted(int((labels == c).sum()) for c in range(2))
    [200, 200]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON_CONSTRAINTS,
        **SPECTRAL_CONSTRAINTS,
        "landmarks": [StrOptions(set(LANDMARK_METHODS))],
        "embedding": [StrOptions(set(EMBEDDINGS))],
        "scale": [StrOptions(set(SCALES))],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        landmarks: str = "kmeans",
        n_landmarks: str | int = "auto",
        n_neighbors: int = 5,
        embedding: str = "lsc",
        scale: str = "none",
        device: str | torch.device = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.embedding = embedding
        self.scale = scale
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _prepare(self, rows: Rows, progress: Progress) -> Prepared:
        parts = [view.rows for view in rows.views] or [rows]
        statistics = [gather_statistics(part) for part in parts]
        seed = root_seed(self.random_state)
        scalers = [
            learn_scaler(part, known, self.scale, seed)
            for part, known in zip(parts, statistics, strict=True)
        ]
        start = partial(self._start, progress, seed)
        equal = [known.constant for known in statistics]
        names = [view.name for view in rows.views]
        views = map(start, parts, scalers, equal, names)  # none of one matrix
        every = start(rows, side_by_side(rows, scalers), all(equal), None)
        return replace(every, views=tuple(views))

    def _start(
        self,
        progress: Progress,
        seed: int,
        rows: Rows,
        scaler: AnyScaler,
        rows_are_equal: bool,
        view: str | None,
    ) -> Prepared:
        """What one member starts from: that of a view, or one that sees all."""
        n_landmarks = resolve_landmarks(self.n_landmarks, rows.n_rows, BASELINE)
        return Prepared(
            rows,
            scaler,
            [MemberSpec((), epochs=0, n_landmarks=n_landmarks, view=view)],
            training=None,
            seed=seed,
            rows_are_equal=rows_are_equal,
            progress=progress,
        )
