"""DKM: deep k-means with a differentiable soft minimum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import torch

from scedae._autoencoder import Adam
from scedae._constraints import Interval, StrOptions
from scedae._defaults import DKM_WEIGHTS
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

# Without pretraining, published: so many steps of the inverse temperature, each for
# so many epochs.
_N_ANNEALED, _EPOCHS_EACH, _FIRST_ALPHA = 40, 5, 0.1


def annealed_alphas() -> list[float]:
    """α₁ = 0.1, αᵢ₊₁ = 2^(1 / ln(i + 1)²) αᵢ."""
    alphas = [_FIRST_ALPHA]
    for i in range(1, _N_ANNEALED):
        alphas.append(2 ** (1 / math.log(i + 1) ** 2) * alphas[-1])
    return alphas


def soft_minimum(
    squared: torch.Tensor, alpha: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """f = Σ_k d_k G_k with G = softmax(-α d), and its derivatives by d, (…, k)."""
    share = torch.softmax(-alpha * squared, dim=-1)
    value = (squared * share).sum(-1)
    return value, share * (1 + alpha * (value[..., None] - squared))


class DKMObjective(JointObjective):
    """λ times the soft minimum of squared distances, summed with squared errors.

    ``weight`` already holds 1 / columns: the reconstruction is a mean over columns
    here, and a sum over them in the publication.
    """

    def __init__(
        self,
        centers: torch.Tensor,
        weight: float,
        alphas: Sequence[float],
        rates: torch.Tensor,
    ) -> None:
        super().__init__(centers)
        self._weight = weight
        self._alphas = alphas  # one a round
        self._alpha = centers.new_tensor(alphas[0])
        self._adam = Adam(self._flat, self._flat_gradient, rates)

    def gradient(self, codes: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        squared = squared_to_centers(codes, self.centers)
        value, by_distance = soft_minimum(squared, self._alpha)
        scale = self._weight / codes.shape[1]
        at_codes, at_centers = pull(by_distance * scale, codes, self.centers)
        self._losses += scale * value.sum(1)
        self._gradient.copy_(at_centers)
        self._adam.step()
        return at_codes

    def state(self) -> list[torch.Tensor]:
        return [self.centers, self._losses, *self._adam.state()]

    def begin_round(self, number: int, codes: Sequence[torch.Tensor]) -> list[bool]:
        self._alpha.fill_(self._alphas[min(number, len(self._alphas) - 1)])
        return super().begin_round(number, codes)


class DKM(JointClusterer):
    """Deep k-means: autoencoder and centres learnt jointly by gradient descent.

    The distance to the nearest centre is replaced by a soft minimum, whose inverse
    temperature α is 1000 after pretraining, and rises by a schedule without it.

    Parameters
    ----------
    n_clusters : int, default=8
    pretrain : bool, default=True
        Train the autoencoder alone first. Without it, α is annealed over 200 epochs
        and ``epochs`` is not read.
    pretrain_epochs : int, default=50
    epochs : int, default=100
        Epochs of joint training after pretraining.
    clustering_weight : "auto" or float, default="auto"
        λ, the weight of the clustering loss. ``"auto"`` takes less without
        pretraining (``scedae._defaults.DKM_WEIGHTS``).
    alpha : float, default=1000.0
        Inverse temperature after pretraining.
    hidden_layers : sequence of int, default=(500, 500, 2000)
    encoding_dim : "auto" or int, default="auto"
        ``"auto"``: the number of clusters.
    batch_size, learning_rate, precision, scale, device, random_state, verbose
        As in :class:`~scedae.SCEDAE`.

    Attributes
    ----------
    labels_, embedding_, cluster_centers_, members_, pipeline_, seed_
        As in :class:`AutoencoderKMeans`.

    References
    ----------
    Moradi Fard, Thonet, Gaussier. Deep k-Means: Jointly clustering with k-Means and
    learning representations. Pattern Recognition Letters 138, 2020.
    https://doi.org/10.1016/j.patrec.2020.07.028

    Examples
    --------
    >>> from scedae.baselines import DKM
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = DKM(
    ...     4, hidden_layers=(32, 16), pretrain_epochs=2, epochs=2, random_state=0
    ... ).fit(X)
    >>> model.labels_.shape, model.embedding_.shape
    ((200,), (200, 4))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **JOINT_CONSTRAINTS,
        "encoding_dim": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
        ],
        "clustering_weight": [
            StrOptions({"auto"}),
            Interval(Real, 0, None, closed="left"),
        ],
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        pretrain: bool = True,
        pretrain_epochs: int = 50,
        epochs: int = 100,
        clustering_weight: str | float = "auto",
        alpha: float = 1000.0,
        hidden_layers: Sequence[int] = (500, 500, 2000),
        encoding_dim: str | int = "auto",
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
        self.alpha = alpha
        self.hidden_layers = hidden_layers
        self.encoding_dim = encoding_dim
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.precision = precision
        self.scale = scale
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _alphas(self) -> list[float]:
        """The inverse temperature of each epoch."""
        if self.pretrain:
            return [float(self.alpha)] * int(self.epochs)
        return [alpha for alpha in annealed_alphas() for _ in range(_EPOCHS_EACH)]

    def _plan(self, steps_per_epoch: int) -> JointPlan:
        return JointPlan(len(self._alphas()), steps_per_epoch)

    def _first_centers(
        self, codes: torch.Tensor, seed: torch.Generator
    ) -> torch.Tensor:
        if self.pretrain:
            return super()._first_centers(codes, seed)
        shape = (int(self.n_clusters), codes.shape[1])
        drawn = torch.empty(shape, dtype=torch.float64)
        return drawn.uniform_(-1, 1, generator=seed).to(codes.device)

    def _objective(
        self, centers: torch.Tensor, rows: Rows, rates: torch.Tensor
    ) -> DKMObjective:
        weight = self.clustering_weight
        if weight == "auto":
            weight = DKM_WEIGHTS[bool(self.pretrain)]
        per_column = float(weight) / rows.n_columns
        return DKMObjective(centers, per_column, self._alphas(), rates)
