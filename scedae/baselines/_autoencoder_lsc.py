"""DAE + LSC: landmark spectral clustering of one autoencoder's codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from scedae._constraints import StrOptions
from scedae._defaults import BASELINE, resolve_landmarks
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import RandomState
from scedae._rows import Rows
from scedae._shell.base import SPECTRAL_CONSTRAINTS
from scedae._shell.networks import AUTOENCODER_CONSTRAINTS, one_network
from scedae._shell.spectral import SpectralClusterer
from scedae._spectral import EMBEDDINGS


class AutoencoderLSC(SpectralClusterer):
    """One autoencoder, then landmark spectral clustering of its codes (DAE+LSC).

    :class:`~scedae.SCEDAE` with a single member: the paper's baseline, which shows
    what the ensemble adds.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
    hidden_layers, encoding_dim, epochs, batch_size, learning_rate, schedule, \
precision, scale, n_landmarks, n_neighbors, embedding, device, random_state, verbose
        As in :class:`~scedae.SCEDAE`, but the embedding is LSC's, and ``"auto"`` goes
        by ``scedae._defaults.BASELINE``.

    Attributes
    ----------
    labels_, confidence_, embedding_, cluster_centers_, singular_values_, members_, \
member_agreement_, stability_, suggestion_, pipeline_, seed_
        As in :class:`~scedae.SCEDAE`.

    Examples
    --------
    >>> from scedae.baselines import AutoencoderLSC
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = AutoencoderLSC(4, epochs=5, random_state=0).fit(X)
    >>> model.labels_.shape, model.embedding_.shape
    ((200,), (200, 4))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AUTOENCODER_CONSTRAINTS,
        **SPECTRAL_CONSTRAINTS,
        "embedding": [StrOptions(set(EMBEDDINGS))],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        hidden_layers: str | Sequence[int] = "auto",
        encoding_dim: int = 10,
        epochs: str | int = "auto",
        batch_size: int = 256,
        learning_rate: float = 2e-3,
        schedule: str = "one-cycle",
        precision: str = "auto",
        scale: str = "auto",
        n_landmarks: str | int = "auto",
        n_neighbors: int = 5,
        embedding: str = "lsc",
        device: str | torch.device = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.hidden_layers = hidden_layers
        self.encoding_dim = encoding_dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.precision = precision
        self.scale = scale
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.embedding = embedding
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    _learns_from_views = False  # a baseline is one network on one matrix

    def _prepare(self, rows: Rows, progress: Progress) -> Prepared:
        n_landmarks = resolve_landmarks(self.n_landmarks, rows.n_rows, BASELINE)
        return one_network(self, rows, progress, n_landmarks)
