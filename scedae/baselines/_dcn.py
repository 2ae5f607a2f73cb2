"""DCN: the deep clustering network, which alternates network and centres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from scedae._numerics import column_sums, product
from scedae._random import RandomState
from scedae._rows import Rows
from scedae.baselines._joint import (
    JOINT_CONSTRAINTS,
    JointClusterer,
    JointObjective,
    JointPlan,
    pull,
    squared_to_centers,
)

# Rows each centre is thought to stand for at the start: the first batch must not move
# a centre as far as the k-means on all rows did.
_FIRST_COUNT = 100


class DCNObjective(JointObjective):
    """λ/2 times the squared distance to the nearest centre.

    Centres are no parameters of the gradient descent: after each batch every row
    moves its centre by 1 / count of the way, which makes each centre the mean of the
    rows it was ever given. Row after row or all at once, the result is the same.
    """

    def __init__(self, centers: torch.Tensor, weight: float) -> None:
        super().__init__(centers)
        self._weight = weight
        self._count = torch.full_like(centers[:, :, :1], _FIRST_COUNT)

    def gradient(self, codes: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        squared = squared_to_centers(codes, self.centers)
        nearest = squared.argmin(2, keepdim=True)
        member = torch.zeros_like(squared).scatter_(2, nearest, 1.0)
        scale = self._weight / 2 / codes.shape[1]
        at_codes, _ = pull(scale * member, codes, self.centers)
        self._losses += scale * (member * squared).sum(2).sum(1)
        self._move_centers(member, codes)
        return at_codes

    def _move_centers(self, member: torch.Tensor, codes: torch.Tensor) -> None:
        total = self._count * self.centers + product(member.mT, codes)
        self._count += column_sums(member).mT
        self.centers.copy_(total / self._count)

    def state(self) -> list[torch.Tensor]:
        return [self.centers, self._losses, self._count]


class DCN(JointClusterer):
    """Deep clustering network: k-means-friendly codes by alternating updates.

    Each step moves the network towards codes near their centres, then the centres
    towards the codes of the batch.

    Parameters
    ----------
    n_clusters : int, default=8
    pretrain : bool, default=True
        Train the autoencoder alone first.
    pretrain_epochs : int, default=50
    epochs : int, default=50
        Epochs of joint training.
    clustering_weight : float, default=0.1
        λ, the weight of the clustering loss.
    hidden_layers : sequence of int, default=(500, 500, 2000)
    encoding_dim : int, default=10
    batch_size, learning_rate, precision, scale, device, random_state, verbose
        As in :class:`~scedae.SCEDAE`.

    Attributes
    ----------
    labels_, embedding_, cluster_centers_, members_, pipeline_, seed_
        As in :class:`AutoencoderKMeans`.

    References
    ----------
    Yang, Fu, Sidiropoulos, Hong. Towards k-means-friendly spaces: simultaneous deep
    learning and clustering. ICML 2017. https://proceedings.mlr.press/v70/yang17b.html

    Examples
    --------
    >>> from scedae.baselines import DCN
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = DCN(
    ...     4, hidden_layers=(32, 16), pretrain_epochs=2, epochs=2, random_state=0
    ... ).fit(X)
    >>> model.labels_.shape, model.embedding_.shape
    ((200,), (200, 10))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = JOINT_CONSTRAINTS

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        pretrain: bool = True,
        pretrain_epochs: int = 50,
        epochs: int = 50,
        clustering_weight: float = 0.1,
        hidden_layers: Sequence[int] = (500, 500, 2000),
        encoding_dim: int = 10,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        precision: str = "auto",
        scale: str = "auto",
        device: str | torch.device = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.pretrain = pretrain
        self.pretrain_epochs = pretrain_epochs
        self.epochs = epochs
        self.clustering_weight = clustering_weight
        self.hidden_layers = hidden_layers
        self.encoding_dim = encoding_dim
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.precision = precision
        self.scale = scale
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, steps_per_epoch: int) -> JointPlan:
        return JointPlan(int(self.epochs), steps_per_epoch)

    def _objective(
        self, centers: torch.Tensor, rows: Rows, rates: torch.Tensor
    ) -> DCNObjective:
        return DCNObjective(centers, self.clustering_weight / rows.n_columns)
