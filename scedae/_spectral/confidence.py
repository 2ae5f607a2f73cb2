"""assign, second half: how sure the label of a row is.

Two doubts are told apart. A row may lie between two centres of the embedding (a small
*margin*), or its neighbours, as the members see them, may belong to other clusters (a
small *agreement*). Both are local to a row once the centres and the tables of votes
are known, so new rows are treated like those of the fit.
"""

from __future__ import annotations

import numpy as np
import torch

from scedae._spectral.affinity import Affinity, sums_at
from scedae._spectral.distances import nearest, squared_distances


def landmark_votes(
    affinity: Affinity, labels: torch.Tensor, n_clusters: int
) -> torch.Tensor:
    """Share of each cluster among the rows tied to each landmark, of shape (p, k).

    Rows count by their affinity. Each line sums to one, or is zero for a landmark that
    nobody is near. A factor on a column of the affinity cancels out.
    """
    cells = affinity.columns.long() * n_clusters + labels[:, None]
    sums = sums_at(cells, affinity.weights, affinity.n_landmarks * n_clusters)
    table = sums.reshape(affinity.n_landmarks, n_clusters)
    totals = table.sum(1, keepdim=True)
    return table / totals.masked_fill(totals == 0, 1)


def vote(affinity: Affinity, votes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """What a member gives to the label of each row: z_i times the table, (n,)."""
    total = torch.zeros_like(affinity.weights[:, 0])
    # Term by term: the order of a sum along rows may depend on how many there are.
    for columns, weights in zip(affinity.columns.T, affinity.weights.T, strict=True):
        total += weights * votes[columns.long(), labels]
    return total.clamp_(0, 1)


def margin(
    points: torch.Tensor, centers: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """1 - d1 / d2: distance to the own centre over that to the next one, (n,).

    1 on the centre itself, 0 half way to another one; 1 when there is no other.
    """
    if len(centers) == 1:
        return torch.ones(len(points), dtype=torch.float64, device=points.device)
    first, second = nearest(points, centers, 2).T
    rival = torch.where(first == labels, second, first)
    pair = torch.stack([labels, rival], dim=1)
    own, other = squared_distances(points, centers, pair).sqrt().T
    # Centres on one spot (rows that are all equal) leave nothing to choose by.
    return torch.where(other > 0, 1 - own / other, 0).clamp_(0, 1)


def margin_of_answers(answers: torch.Tensor) -> torch.Tensor:
    """1 - p2 / p1: the chance of the second best class over that of the best, (n,).

    ``answers`` (n, k) are what a softmax makes chances of. The counterpart of
    ``margin`` for rows that a network has put into classes.
    """
    if answers.shape[1] == 1:
        return torch.ones(len(answers), dtype=torch.float64, device=answers.device)
    first, second = answers.double().topk(2, dim=1).values.T
    return -torch.expm1(second - first)


def combine(margin: torch.Tensor, agreement: torch.Tensor) -> torch.Tensor:
    """The geometric mean: a row is as doubtful as its worse side makes it.

    An arithmetic mean would leave half of the confidence to a row that lies half way
    between two centres, or that no member would put where it is.
    """
    return (margin * agreement).sqrt()


# Shares of the rows that may be rejected, and how finely they are told apart.
MOST_REJECTED, _STEPS = 0.5, 500


def doubt_quantiles(confidence: np.ndarray) -> torch.Tensor:
    """Confidence below which lie 0, 0.001, … 0.5 of the rows, of shape (501,)."""
    shares = np.linspace(0, MOST_REJECTED, _STEPS + 1)
    return torch.from_numpy(np.quantile(confidence, shares))


def confidence_at(quantiles: torch.Tensor, share: float) -> float:
    """Confidence below which lies such a share of the rows."""
    shares = np.linspace(0, MOST_REJECTED, len(quantiles))
    return float(np.interp(share, shares, quantiles.numpy()))
