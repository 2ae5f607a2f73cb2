"""fuse: the affinities of all members as one matrix, and its sums over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import add

import torch

from scedae import _spectral as spectral
from scedae._model import FittedMember
from scedae._rows import AnyScaler, Rows, Tick, on_scaled


@dataclass(frozen=True)
class Anchored:
    """The members among their landmarks, and the affinities of the rows at hand."""

    members: list[FittedMember]
    affinities: list[spectral.Affinity]
    n_neighbors: int

    @property
    def n_landmarks(self) -> int:
        return len(self.members[0].landmarks)

    @cached_property
    def fusion(self) -> Fusion:
        """Z̄ and its sums of the rows at hand, as if there were no others."""
        scales = [member.column_scale for member in self.members]
        fused = spectral.fuse(self.affinities, scales)
        return Fusion(self.members, fused, spectral.gram_of(fused), fused.column_sums())


@dataclass(frozen=True)
class LandmarkSums:
    """Sums over rows of [Z_1 | … | Z_m]; the scale of its columns follows from them."""

    columns: torch.Tensor  # (Σp,) on the host
    gram: spectral.Gram  # (Σp, Σp)

    def __add__(self, other: LandmarkSums) -> LandmarkSums:
        return LandmarkSums(self.columns + other.columns, self.gram + other.gram)

    def __sizeof__(self) -> int:
        # Dask asks for it before it moves something.
        return self.columns.nbytes + self.gram.nbytes

    def fused(
        self, members: Sequence[FittedMember]
    ) -> tuple[spectral.Gram, torch.Tensor]:
        """Gram matrix and column sums of Z̄, by scaling afterwards: saves a pass."""
        factors = torch.cat([member.column_scale.cpu() for member in members])
        factors *= len(members) ** -0.5
        return self.gram.scaled(factors.numpy()), self.columns * factors


def landmark_sums(
    members: Sequence[FittedMember], n_neighbors: int, rows: torch.Tensor
) -> LandmarkSums:
    """What some scaled rows add to the sums."""
    there = [member.to(rows.device) for member in members]
    side_by_side = spectral.FusedAffinity(
        tuple(member.affinity(rows, n_neighbors) for member in there)
    )
    return LandmarkSums(
        side_by_side.column_sums().cpu(), spectral.gram_matrix(side_by_side)
    )


@dataclass(frozen=True)
class Fusion:
    """What anchor and fuse leave to the verbs after them."""

    members: list[FittedMember]
    affinity: spectral.FusedAffinity  # Z̄ of the rows at hand
    gram: spectral.Symmetric  # Z̄ᵀZ̄ of all rows, or Z̄Z̄ᵀ
    column_sums: torch.Tensor  # (Σp,) of all rows
    _bases: dict[int, spectral.Basis] = field(default_factory=dict, repr=False)

    def basis(self, n_vectors: int) -> spectral.Basis:
        """The leading singular vectors of Z̄ after the constant one; found once."""
        if n_vectors not in self._bases:
            trivial = spectral.trivial_vector(self.column_sums)
            found = spectral.spectral_basis(self.gram, trivial, n_vectors)
            self._bases[n_vectors] = found
        return self._bases[n_vectors]

    def points(
        self, basis: spectral.Basis, time: float, rows: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Coordinates of the rows at hand, or of some of them, (n, q)."""
        affinity = self.affinity if rows is None else self.affinity.take(rows)
        matrix = torch.from_numpy(spectral.embedding_matrix(basis, time))
        return spectral.embed(affinity, matrix.to(affinity.device))

    def panel(
        self,
        basis: spectral.Basis,
        embedding: str,
        seed: int,
        kept: float = spectral.KEPT_OF_LAST_VECTOR,
    ) -> spectral.Panel:
        """Those who can be asked for a second opinion."""
        scales = [member.column_scale for member in self.members]
        return spectral.Panel(self.affinity, scales, basis, embedding, seed, kept)


def fuse_members(
    anchored: Anchored, rows: Rows, scaler: AnyScaler, seed: int, tick: Tick
) -> Fusion:
    """Z̄ of the rows at hand; its sums over all rows, by a pass if there are more.

    Of very many rows, over those that are enough.
    """
    if rows.all_at_hand:
        return anchored.fusion
    kernel = partial(landmark_sums, tuple(anchored.members), anchored.n_neighbors)
    runs = rows.runs_to_sum(seed)
    sums: LandmarkSums = rows.total(on_scaled(rows, scaler, kernel), add, tick, runs)
    members = _rescaled(anchored.members, sums)
    fused = spectral.fuse(anchored.affinities, [m.column_scale for m in members])
    return Fusion(members, fused, *sums.fused(members))


def _rescaled(
    members: Sequence[FittedMember], sums: LandmarkSums
) -> list[FittedMember]:
    """Members with the column scales of all rows in place of those of a sample."""
    shares = sums.columns.split([len(member.landmarks) for member in members])
    return [
        replace(m, column_scale=spectral.inverse_root(share).to(m.column_scale.device))
        for m, share in zip(members, shares, strict=True)
    ]
