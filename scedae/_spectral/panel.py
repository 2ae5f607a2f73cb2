"""The whole ensemble and opposed halves of it, asked for so many clusters each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
import torch
from scipy.cluster.hierarchy import fcluster

from scedae._random import generator
from scedae._spectral.affinity import FusedAffinity, unfuse
from scedae._spectral.calibration import Calibration, calibrate, renamed
from scedae._spectral.embedding import KEPT_OF_LAST_VECTOR, Basis
from scedae._spectral.halves import Half, member_halves, opposed_halves
from scedae._spectral.layers import Layer, Tree, ward_tree
from scedae._spectral.number import (
    Candidate,
    Evidence,
    candidate,
    in_counted,
    relative_gap,
)

# Rows that the halves learn from at most, and rows that all are asked about: opinions
# shall cost little beside the fit.
_ROWS_LEARNT = 100_000
_ROWS_ASKED = 2000
# And those that halves of the members learn from, which share all of them.
_ROWS_SHARED = 20_000
# How often the rows are cut into halves: one cut may be unlucky. Of so many vectors,
# for as many clusters, it is an average of luck by itself, and takes long.
_CUTS, _MANY_VECTORS = 2, 200
# Numbers of clusters whose stability is looked at: up to this one in any case, as gaps
# are measured in units by which those after large numbers are larger; and so many of
# those after the largest gaps.
_WEIGHED_TO, _MOST_WEIGHED = 3, 6
# Layers are weighed up to this number of clusters, on so many rows; so many beside
# that of the fit are named, if they are as stable as this.
_MOST_CLUSTERS, _ROWS_OF_LAYERS = 30, 500
_MOST_LAYERS, _STABLE = 4, 0.6


class Panel:
    """Opinions on the clusters of some rows.

    Parameters
    ----------
    affinity : FusedAffinity
        Z̄ of the rows at hand.
    column_scales : sequence of tensor
        Those by which it was fused.
    basis : Basis
        Of the whole, with the vectors that the largest number of clusters needs.
    embedding : {"diffusion", "lsc"}
    seed : int
    kept : float
        What the diffusion leaves of the last vector that clusters need.
    """

    def __init__(
        self,
        affinity: FusedAffinity,
        column_scales: Sequence[torch.Tensor],
        basis: Basis,
        embedding: str,
        seed: int,
        kept: float = KEPT_OF_LAST_VECTOR,
    ) -> None:
        self._embedding, self._seed, self._kept = embedding, seed, kept
        draw = generator(seed, "opinions")
        order = torch.randperm(affinity.n_rows, generator=draw)
        learnt = affinity.take(order[:_ROWS_LEARNT].to(affinity.device))
        self._asked = order[:_ROWS_ASKED].to(affinity.device)
        first_ones = torch.arange(len(self._asked), device=affinity.device)
        bare = self._bare = list(unfuse(learnt, column_scales))
        n_vectors = len(basis.singular_values)
        self._whole = Half(learnt.take(first_ones), basis)
        cuts = _CUTS if n_vectors < _MANY_VECTORS else 1
        self._pairs = [
            opposed_halves(bare, first_ones, n_vectors, draw) for _ in range(cuts)
        ]

    def gap(self, n_clusters: int) -> float:
        """The gap of the whole after so many clusters."""
        return relative_gap(self._whole.basis.singular_values, n_clusters)

    def evidence(self, n_clusters: int) -> Evidence:
        """What speaks for so many clusters: the halves are asked to find the same.

        Rows of clusters that are not counted are not asked about: that a few outliers
        are apart, all see. Of one cluster there is nothing to agree about.
        """
        own = self._opinion(self._whole, n_clusters, "whole")
        large = in_counted(own)
        n_counted = len(np.unique(own[large]))
        stability = self._agreement(own, n_clusters, large) if n_counted > 1 else 0.0
        return Evidence(n_clusters, self.gap(n_clusters), stability, n_counted)

    def stability(self, labels: torch.Tensor, n_clusters: int) -> float:
        """How much the halves agree with the labels of all rows, and together."""
        return self._agreement(labels[self._asked].cpu().numpy(), n_clusters)

    def opinions_on_layers(self, n_clusters: int) -> list[np.ndarray]:
        """Trees by which two halves merge few of the rows, in SciPy's form.

        One tree serves all layers, where k-means would be run for each. Rows are
        embedded as for so many clusters.
        """
        few = self._few
        found = []
        for half in self._pairs[0]:
            some = Half(half.affinity.take(few), half.basis)
            points = some.points(n_clusters, self._embedding, self._kept).cpu().numpy()
            found.append(ward_tree(points))
        return found

    def asked_about_layers(self, labels: torch.Tensor) -> np.ndarray:
        """The labels of those rows, of shape (n,)."""
        return labels[self._asked][self._few].cpu().numpy()

    @cached_property
    def _few(self) -> torch.Tensor:
        count = min(_ROWS_OF_LAYERS, len(self._asked))
        return torch.arange(count, device=self._asked.device)

    def _agreement(
        self, labels: np.ndarray, n_clusters: int, rows: np.ndarray | None = None
    ) -> float:
        some = np.ones(len(labels), dtype=bool) if rows is None else rows
        found = []
        for cut, pair in enumerate(self._pairs):
            halves = [
                self._opinion(half, n_clusters, f"half {cut} {side}")
                for side, half in enumerate(pair)
            ]
            opinions = [opinion[some] for opinion in (labels, *halves)]
            found.append(agreement_beyond_chance(opinions))
        return float(np.mean(found))

    def calibration(
        self,
        labels: torch.Tensor,
        confidence: torch.Tensor,
        agreement: torch.Tensor,
        n_clusters: int,
    ) -> Calibration:
        """How often the labels of all rows hold, by their confidence.

        A label holds as far as halves of the members put the row into that cluster,
        times what the members of the whole give to it (``agreement``).
        """
        own = labels[self._asked]
        held = []
        for side, half in enumerate(self._member_halves):
            draw = generator(self._seed, "held out", side)
            found = half.labels_beside(
                own, n_clusters, self._embedding, draw, self._kept
            )
            names = own.cpu().numpy()
            held.append(renamed(found, names, n_clusters) == names)
        sure, given = (
            each[self._asked].cpu().numpy() for each in (confidence, agreement)
        )
        return calibrate(sure, np.mean(held, axis=0) * given)

    @cached_property
    def _member_halves(self) -> tuple[Half, Half]:
        if len(self._bare) == 1:  # then the rows alone are cut into halves
            return self._pairs[0]
        n_rows = len(self._bare[0].columns)
        some = torch.arange(min(n_rows, _ROWS_SHARED), device=self._asked.device)
        asked = some[: len(self._asked)]
        few = [affinity.take(some) for affinity in self._bare]
        return member_halves(few, asked, len(self._whole.basis.singular_values))

    def _opinion(self, half: Half, n_clusters: int, name: str) -> np.ndarray:
        draw = generator(self._seed, "opinions", n_clusters, name)
        return half.labels(n_clusters, self._embedding, draw, self._kept)


def weigh_numbers(
    panels: Sequence[Panel], numbers: Iterable[int]
) -> Iterator[Candidate]:
    """The evidence of several graphs for numbers of clusters, as a mean over graphs.

    The smallest numbers come first, then others by their gaps, which cost nothing. No
    score is over its gap: when one is over the next gap, the rest need not be weighed.
    """
    gaps = {k: np.mean([max(panel.gap(k), 0) for panel in panels]) for k in numbers}
    first = [k for k in gaps if k <= _WEIGHED_TO]
    others = sorted((k for k in gaps if k > _WEIGHED_TO), key=lambda k: -gaps[k])
    best = 0.0
    for k in [*first, *others[:_MOST_WEIGHED]]:
        if k > _WEIGHED_TO and gaps[k] <= best:
            break
        found = candidate([panel.evidence(k) for panel in panels])
        best = max(best, found.score)
        yield found


def stable_layers(
    panel: Panel, tree: Tree, pieces: torch.Tensor, stability: float
) -> tuple[Layer, ...]:
    """The layer of the fit and others that are stable, coarsest first.

    Of those that are more stable than their neighbours, the most stable ones.
    ``pieces`` are those of the rows at hand, ``stability`` is that of the fit.
    """
    own = tree.n_clusters
    halves = panel.opinions_on_layers(own)
    some = panel.asked_about_layers(pieces)
    most = min(2 * own, tree.n_pieces, _MOST_CLUSTERS, len(some))
    held = {}
    for n_clusters in range(2, most + 1):
        opinions = [fcluster(half, n_clusters, "maxclust") for half in halves]
        layer = tree.names(n_clusters)[some]
        held[n_clusters] = agreement_beyond_chance([layer, *opinions])
    peaks = [
        Layer(n, value)
        for n, value in held.items()
        if n != own
        and value >= max(_STABLE, held.get(n - 1, 0.0), held.get(n + 1, 0.0))
    ]
    peaks.sort(key=lambda layer: -layer.stability)
    found = [Layer(own, stability), *peaks[:_MOST_LAYERS]]
    return tuple(sorted(found, key=lambda layer: layer.n_clusters))


def agreement_beyond_chance(opinions: Sequence[np.ndarray]) -> float:
    """Mean adjusted Rand index over all pairs of labels, in [0, 1].

    1 when all are the same up to the names of the clusters, 0 when they agree no more
    than labels dealt at random would (less than that counts as 0).
    """
    pairs = [_adjusted_rand(a, b) for a, b in combinations(opinions, 2)]
    return float(np.clip(np.mean(pairs), 0, 1))


def _adjusted_rand(first: np.ndarray, second: np.ndarray) -> float:
    """The adjusted Rand index of Hubert and Arabie.

    As scikit-learn's, which spends ten times as long on looking at what it is given:
    layers ask for it a hundred times.
    """
    counts = np.bincount(first * (second.max() + 1) + second)
    pairs = (counts @ (counts - 1)) / 2
    of_first, of_second = (
        sizes @ (sizes - 1) / 2 for sizes in map(np.bincount, (first, second))
    )
    by_chance = of_first * of_second / max(len(first) * (len(first) - 1) / 2, 1)
    most = (of_first + of_second) / 2
    return float((pairs - by_chance) / (most - by_chance)) if most > by_chance else 1.0
