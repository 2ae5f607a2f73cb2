"""IDEC: improved deep embedded clustering, with local structure preservation."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import torch

from scedae._autoencoder import USUAL, Variation
from scedae._constraints import Interval
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


def soft_assignment(squared: torch.Tensor) -> torch.Tensor:
    """q of Student's t with one degree of freedom, from squared distances (…, k)."""
    closeness = 1 / (1 + squared)
    return closeness / closeness.sum(-1, keepdim=True)


def target_distribution(q: torch.Tensor) -> torch.Tensor:
    """p = (q² / f) over its sum, f the size of each cluster; q is (n, k)."""
    sharpened = q.square() / q.sum(0)
    return sharpened / sharpened.sum(1, keepdim=True)


class IDECObjective(JointObjective):
    """γ times the divergence KL(p | q), with a target p that is renewed each round."""

    looks_at_all_rows = True

    def __init__(
        self,
        centers: torch.Tensor,
        n_rows: int,
        weight: float,
        tolerance: float,
        rates: torch.Tensor,
        variation: Variation = USUAL,
    ) -> None:
        super().__init__(centers)
        self._weight, self._tolerance = weight, tolerance
        n_members, n_clusters, _ = centers.shape
        self._target = centers.new_zeros(n_members, n_rows, n_clusters)
        self._labels: list[torch.Tensor] = []
        self._optimizer = variation.pursuing(self._flat, self._flat_gradient, rates)
        # Where each member's rows begin in the table of all targets.
        self._starts = torch.arange(n_members, device=centers.device)[:, None] * n_rows

    def gradient(self, codes: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        places = (index + self._starts).flatten()
        p = self._target.flatten(0, 1).index_select(0, places)
        p = p.view(*index.shape, -1)
        squared = squared_to_centers(codes, self.centers)
        q = soft_assignment(squared)
        scale = self._weight / codes.shape[1]
        weights = scale * (p - q) / (1 + squared)
        at_codes, at_centers = pull(weights, codes, self.centers)
        self._losses += scale * torch.xlogy(p, p / q).sum(2).sum(1)
        self._gradient.copy_(at_centers)
        self._optimizer.step()
        return at_codes

    def state(self) -> list[torch.Tensor]:
        return [self.centers, self._losses, *self._optimizer.state()]

    def begin_round(self, number: int, codes: Sequence[torch.Tensor]) -> list[bool]:
        """Renew the targets; a member whose labels hardly change is done."""
        done, labels = [], []
        for member, points in enumerate(codes):
            squared = torch.cat(
                [
                    squared_to_centers(block[None], self.centers[member][None])[0]
                    for block in points.split(1 << 14)
                ]
            )
            q = soft_assignment(squared)
            self._target[member].copy_(target_distribution(q))
            labels.append(q.argmax(1))
            changed = 1.0
            if self._labels:
                changed = float((labels[-1] != self._labels[member]).float().mean())
            done.append(changed < self._tolerance)
        self._labels = labels
        return done


class IDEC(JointClusterer):
    """Improved deep embedded clustering.

    Codes are drawn to a sharpened copy of their own soft assignment, while the
    decoder keeps them faithful to the rows. Stops when hardly a label changes.

    Parameters
    ----------
    n_clusters : int, default=8
    pretrain : bool, default=True
        Train the autoencoder alone first.
    pretrain_epochs : int, default=50
    epochs : int, default=100
        At most so many epochs of joint training.
    clustering_weight : float, default=0.1
        γ, the weight of the clustering loss.
    update_interval : int, default=140
        Steps after which the target is renewed; an epoch, if that is less.
    tol : float, default=1e-3
        Share of labels that must change from target to target to go on.
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
    Guo, Gao, Liu, Yin. Improved deep embedded clustering with local structure
    preservation. IJCAI 2017. https://doi.org/10.24963/ijcai.2017/243

    Examples
    --------
    >>> from scedae.baselines import IDEC
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = IDEC(
    ...     4, hidden_layers=(32, 16), pretrain_epochs=2, epochs=2, random_state=0
    ... ).fit(X)
    >>> model.labels_.shape, model.embedding_.shape
    ((200,), (200, 10))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **JOINT_CONSTRAINTS,
        "update_interval": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        pretrain: bool = True,
        pretrain_epochs: int = 50,
        epochs: int = 100,
        clustering_weight: float = 0.1,
        update_interval: int = 140,
        tol: float = 1e-3,
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
        self.update_interval = update_interval
        self.tol = tol
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
        steps = min(int(self.update_interval), steps_per_epoch)
        n_rounds = -(-int(self.epochs) * steps_per_epoch // steps)
        return JointPlan(n_rounds, steps)

    def _objective(
        self, centers: torch.Tensor, rows: Rows, rates: torch.Tensor
    ) -> IDECObjective:
        return IDECObjective(
            centers,
            rows.n_rows,
            self.clustering_weight,
            self.tol,
            rates,
            self.variation,
        )
