"""assign, third part: how often rows as sure as this one are where they belong.

Confidence puts rows in order; what a number of it is worth depends on the data. It is
learnt without labels: two halves of the members cluster the rows anew, and where they
put a row into the same cluster as the whole, and its neighbours agree, the label held.
The share of rows for which it holds, as a function of confidence that never falls, is
the chance of a row's own cluster (isotonic regression: Zadrozny and Elkan, 2002). What
is left goes to the other clusters, as the members see them around the row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.isotonic import isotonic_regression

# Groups of rows of like confidence, and the fewest rows of a group.
_MOST_GROUPS = 20
_FEWEST_ROWS = 30
# By how much the chance of a row's own cluster exceeds that of any other, at least:
# more than rounding, so that the largest chance is always that of the label.
_LEAD = 1e-6


@dataclass(frozen=True)
class Calibration:
    """A function of confidence that never falls: straight lines between knots."""

    confidence: torch.Tensor  # (g,) rising, float64
    chance: torch.Tensor  # (g,) never falling, in [0, 1], float64

    def __call__(self, confidence: torch.Tensor) -> torch.Tensor:
        """Chance of the own cluster, of the shape of ``confidence``."""
        # Learnt on the host, also where a fit is elsewhere.
        knots = self.confidence.to(confidence.device)
        values = self.chance.to(confidence.device)
        if len(knots) == 1:
            return values.expand_as(confidence).clone()
        within = confidence.clamp(knots[0], knots[-1])
        right = torch.searchsorted(knots, within).clamp(1, len(knots) - 1)
        left = right - 1
        share = (within - knots[left]) / (knots[right] - knots[left])
        return values[left] * (1 - share) + values[right] * share

    def to(self, device: torch.device) -> Calibration:
        return Calibration(self.confidence.to(device), self.chance.to(device))


def calibrate(confidence: np.ndarray, held: np.ndarray) -> Calibration:
    """How often the label of a row held, by its confidence; both of shape (n,)."""
    order = np.argsort(confidence, kind="stable")
    n_groups = int(np.clip(len(order) // _FEWEST_ROWS, 1, _MOST_GROUPS))
    groups = np.array_split(order, n_groups)
    knots = np.array([confidence[group].mean() for group in groups])
    means = np.array([held[group].mean() for group in groups])
    sizes = np.array([len(group) for group in groups])
    # Groups that lie on one spot are one group.
    knots, where = np.unique(knots, return_inverse=True)
    weights = np.bincount(where, sizes)
    means = np.bincount(where, sizes * means) / weights
    chance = np.clip(isotonic_regression(means, sample_weight=weights), 0, 1)
    return Calibration(torch.from_numpy(knots), torch.from_numpy(chance))


def renamed(labels: np.ndarray, like: np.ndarray, n_clusters: int) -> np.ndarray:
    """The same clusters under the names that agree best with other labels, (n,)."""
    counts = np.zeros((n_clusters, n_clusters), dtype=np.int64)
    np.add.at(counts, (labels, like), 1)
    ours, theirs = linear_sum_assignment(counts, maximize=True)
    names = np.empty(n_clusters, dtype=np.int64)
    names[ours] = theirs
    return names[labels]


def probabilities(
    labels: torch.Tensor, chance: torch.Tensor, shares: torch.Tensor
) -> torch.Tensor:
    """Chances of all clusters, (n, k): rows sum to one, the label has the most.

    Parameters
    ----------
    labels : tensor of shape (n,)
    chance : tensor of shape (n,)
        Of the label.
    shares : tensor of shape (n, k)
        By which the others are given the rest.
    """
    own = labels[:, None]
    n_clusters = shares.shape[1]
    if n_clusters == 1:
        return torch.ones_like(shares)
    # Nobody near a row says anything about the others: they get equal shares.
    rest = (shares + torch.finfo(shares.dtype).tiny).scatter(1, own, 0)
    rest = rest / rest.sum(1, keepdim=True)
    highest = rest.amax(1)
    # Such that the label leads: chance = (1 - chance) * highest + lead.
    least = (highest + _LEAD) / (1 + highest)
    chance = torch.maximum(chance, least)
    return (rest * (1 - chance)[:, None]).scatter(1, own, chance[:, None])
