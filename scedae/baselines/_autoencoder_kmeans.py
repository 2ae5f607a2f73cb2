"""DAE + k-means: k-means on one autoencoder's codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from scedae._ensemble import encode_members
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import RandomState, generator
from scedae._rows import Rows
from scedae._shell.networks import AUTOENCODER_CONSTRAINTS, one_network
from scedae._spectral import kmeans, nearest
from scedae.baselines._encoder_clusterer import (
    EncoderClusterer,
    EncoderFit,
    FittedEncoder,
)


class AutoencoderKMeans(EncoderClusterer):
    """One autoencoder, then k-means on its codes (DAE+k-means).

    Parameters
    ----------
    n_clusters : int, default=8
    hidden_layers, encoding_dim, epochs, batch_size, learning_rate, schedule, \
precision, scale, device, random_state, verbose
        As in :class:`~scedae.SCEDAE`, but ``"auto"`` goes by
        ``scedae._defaults.BASELINE``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, encoding_dim)
        Codes of the training rows.
    cluster_centers_ : ndarray of shape (n_clusters, encoding_dim)
    members_ : tuple of one MemberReport
    pipeline_ : FittedEncoder
    seed_ : int

    Examples
    --------
    >>> from scedae.baselines import AutoencoderKMeans
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = AutoencoderKMeans(4, epochs=5, random_state=0).fit(X)
    >>> model.labels_.shape, model.embedding_.shape
    ((200,), (200, 10))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = AUTOENCODER_CONSTRAINTS

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hidden_layers: str | Sequence[int] = "auto",
        encoding_dim: int = 10,
        epochs: str | int = "auto",
        batch_size: int = 256,
        learning_rate: float = 2e-3,
        schedule: str = "one-cycle",
        precision: str = "auto",
        scale: str = "auto",
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
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _prepare(self, rows: Rows, progress: Progress) -> Prepared:
        # The least number of landmarks a spec allows: this member is never anchored.
        return one_network(self, rows, progress, n_landmarks=2)

    def _run(self, start: Prepared) -> EncoderFit:
        start.progress.stage("encode")
        encoded = encode_members(start)
        encoder = encoded.members[0].encoder
        assert encoder is not None

        start.progress.stage("assign")
        codes = encoded.members[0].codes.double()
        seed = generator(start.seed, "assign")
        centers = kmeans(codes, int(self.n_clusters), seed).centers
        model = FittedEncoder(start.scaler, encoder, centers)
        labels = nearest(codes, centers)[:, 0]
        return EncoderFit(model, codes, labels, encoded.reports[0])
