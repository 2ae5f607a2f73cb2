"""The verbs after ``encode`` as others may have written them.

What the paper leaves open there is tried here, not in the estimator. With nothing
changed, the labels are those of ``cluster_members``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from scedae import _spectral as spectral
from scedae._numerics import lengths
from scedae._random import generator
from scedae.internal import CodeRows, one_blas_thread, own_threads


@dataclass(frozen=True)
class OtherTail:
    """What is other than in ``SCEDAE.paper``."""

    n_neighbors: int = 5
    # "release": the mean of all squared distances between rows and landmarks, as in the
    # program that LSC was released with, which takes it for σ and not for σ².
    bandwidth: str = "mean distance"
    first_vectors: bool = False  # 1 … k, the constant one included, for 2 … k+1
    unit_rows: bool = True  # rows of B are brought to length one
    unit_codes: bool = False  # and those of the encodings before


def cluster_otherwise(
    codes: Sequence[torch.Tensor],
    n_landmarks: Sequence[int],
    n_clusters: int,
    tail: OtherTail,
    seed: int,
) -> np.ndarray:
    """Labels of shape (n,) from the encodings of an ensemble, (n, e) each."""
    with own_threads(), one_blas_thread:
        affinities = [
            _affinity(_unit(code) if tail.unit_codes else code, p, tail, seed, number)
            for number, (code, p) in enumerate(zip(codes, n_landmarks, strict=True))
        ]
        scales = [spectral.inverse_root(a.column_sums()) for a in affinities]
        fused = spectral.fuse(affinities, scales)
        points = _points(fused, n_clusters, tail)
        found = spectral.partition_rows(points, n_clusters, seed, rounded=False)
    return found.labels.cpu().numpy()


def _affinity(
    codes: torch.Tensor, p: int, tail: OtherTail, seed: int, number: int
) -> spectral.Affinity:
    random = generator(seed, "landmarks", number)
    landmarks = spectral.choose_landmarks(CodeRows(codes), p, "kmeans", random)
    neighbors = spectral.nearest_landmarks(codes, landmarks, tail.n_neighbors)
    bandwidth = spectral.mean_distance(neighbors)
    if tail.bandwidth == "release":
        bandwidth = _mean_of_all_squares(codes.double(), landmarks.double())
    return spectral.landmark_affinity(neighbors, bandwidth, len(landmarks))


def _mean_of_all_squares(codes: torch.Tensor, landmarks: torch.Tensor) -> float:
    """Mean of |y - u|² over all pairs of a row and a landmark."""
    between = (codes.mean(0) - landmarks.mean(0)).square().sum()
    within = codes.var(0, correction=0).sum() + landmarks.var(0, correction=0).sum()
    return float(between + within)


def _points(
    fused: spectral.FusedAffinity, n_clusters: int, tail: OtherTail
) -> torch.Tensor:
    """Rows of B, (n, k)."""
    n_found = n_clusters - 1 if tail.first_vectors else n_clusters
    trivial = spectral.trivial_vector(fused.column_sums())
    basis = spectral.spectral_basis(spectral.gram_of(fused), trivial, n_found)
    matrix = torch.from_numpy(spectral.embedding_matrix(basis, 0.0))
    points = fused.times(matrix.to(fused.device))
    if tail.first_vectors:
        constant = points.new_full((len(points), 1), len(points) ** -0.5)
        points = torch.cat([constant, points], dim=1)
    return _unit(points) if tail.unit_rows else points


def _unit(rows: torch.Tensor) -> torch.Tensor:
    """Rows of length one; a row of zeros stays."""
    norms = lengths(rows)
    return rows / norms.masked_fill(norms == 0, 1)
