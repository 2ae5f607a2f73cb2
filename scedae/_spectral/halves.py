"""Second opinions: the same rows as two halves of the ensemble see them.

Every other member, taught by half of the rows, against the rest of the members, taught
by the other half. Clusters that both find are in the data; clusters that only one of
them finds are in the method, or in the draw of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from scedae._spectral.affinity import (
    Affinity,
    FusedAffinity,
    fuse,
    inverse_root,
)
from scedae._spectral.distances import nearest
from scedae._spectral.embedding import (
    KEPT_OF_LAST_VECTOR,
    Basis,
    embed,
    embedding_matrix,
    embedding_time,
    n_vectors,
    spectral_basis,
    trivial_vector,
)
from scedae._spectral.factored import gram_of
from scedae._spectral.kmeans import kmeans, kmeans_from, means_by_label
from scedae._threads import share_out

# Starts and rounds of k-means for an opinion, which need not be as good as the answer.
_STARTS = 3
_ROUNDS = 30


@dataclass(frozen=True)
class Half:
    """An ensemble, or a part of one, that can be cut into any number of clusters."""

    affinity: FusedAffinity  # of the rows that are asked about
    basis: Basis

    def labels(
        self,
        n_clusters: int,
        embedding: str,
        generator: torch.Generator,
        kept: float = KEPT_OF_LAST_VECTOR,
    ) -> np.ndarray:
        """Clusters of the rows, as this half has them, of shape (n,)."""
        points = self.points(n_clusters, embedding, kept)
        found = kmeans(points, n_clusters, generator, n_starts=_STARTS, n_iter=_ROUNDS)
        return nearest(points, found.centers)[:, 0].cpu().numpy()

    def labels_beside(
        self,
        labels: torch.Tensor,
        n_clusters: int,
        embedding: str,
        generator: torch.Generator,
        kept: float = KEPT_OF_LAST_VECTOR,
    ) -> np.ndarray:
        """The same, with other labels of the rows among the starts, (n,).

        Where this half departs from those labels, it does so for clusters that are
        better in its own eyes, and not for want of a good start.
        """
        points = self.points(n_clusters, embedding, kept)
        found = kmeans(points, n_clusters, generator, n_starts=_STARTS, n_iter=_ROUNDS)
        means = means_by_label(points, labels, found.centers)
        beside = kmeans_from(points, means, _ROUNDS)
        if beside.inertia <= found.inertia:
            found = beside
        return nearest(points, found.centers)[:, 0].cpu().numpy()

    def points(
        self, n_clusters: int, embedding: str, kept: float = KEPT_OF_LAST_VECTOR
    ) -> torch.Tensor:
        """Coordinates of the rows, as this half has them, of shape (n, q)."""
        basis = self.basis.first(n_vectors(embedding, n_clusters))
        time = embedding_time(basis, embedding, n_clusters, kept)
        matrix = torch.from_numpy(embedding_matrix(basis, time))
        return embed(self.affinity, matrix.to(self.affinity.device))


def opposed_halves(
    affinities: Sequence[Affinity],
    asked: torch.Tensor,
    n_wanted: int,
    generator: torch.Generator,
) -> tuple[Half, Half]:
    """Two halves of the ensemble that share neither a member nor a row.

    A single member stands in both halves; they still share no row. Each half costs an
    eighth of the Gram matrix of the whole, and an eigenproblem of half its size.

    Parameters
    ----------
    affinities : sequence of Affinity
        Z_ℓ of every member, of the rows to learn from.
    asked : tensor of int
        Numbers of the rows that both will be asked about.
    n_wanted : int
        Vectors of each half.
    generator : torch.Generator
        Draws the halves of the rows.
    """
    n_rows, device = len(affinities[0].columns), affinities[0].columns.device
    order = torch.randperm(n_rows, generator=generator).to(device)
    # Neighbours in the list are alike (snapshots of one training, members on the
    # rows): taking turns gives some of each kind to both halves.
    members = affinities[::2], affinities[1::2] or affinities
    return _both(members, order.tensor_split(2), asked, n_wanted)


def member_halves(
    affinities: Sequence[Affinity], asked: torch.Tensor, n_wanted: int
) -> tuple[Half, Half]:
    """Two halves of the ensemble that share no member, taught by the same rows.

    As ``opposed_halves``, which are weaker: half of the rows may be too few for shapes
    that are thin. Not for a single member, which would stand in both halves.
    """
    rows = torch.arange(len(affinities[0].columns), device=asked.device)
    members = affinities[::2], affinities[1::2]
    return _both(members, (rows, rows), asked, n_wanted)


def _both(
    members: tuple[Sequence[Affinity], Sequence[Affinity]],
    rows: Sequence[torch.Tensor],
    asked: torch.Tensor,
    n_wanted: int,
) -> tuple[Half, Half]:
    """Two halves; on a CPU side by side, since much of an eigenproblem is serial."""

    def half(side: int) -> Half:
        return _half(members[side], rows[side], asked, n_wanted)

    first, second = share_out(half, (0, 1)) if asked.is_cpu else map(half, (0, 1))
    return first, second


def _half(
    affinities: Sequence[Affinity],
    learnt: torch.Tensor,
    asked: torch.Tensor,
    n_wanted: int,
) -> Half:
    """What some members learn from some rows, with the rows asked about."""
    known = [affinity.take(learnt) for affinity in affinities]
    scales = [inverse_root(affinity.column_sums()) for affinity in known]
    fused = fuse(known, scales)
    trivial = trivial_vector(fused.column_sums())
    basis = spectral_basis(gram_of(fused), trivial, n_wanted)
    return Half(fuse([a.take(asked) for a in affinities], scales), basis)
