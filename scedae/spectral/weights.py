"""Weights of members from their own spectra: a weak one shall not poison the rest.

Where a member sees clusters, the walk among its landmarks leaves the first k
directions slowly and later ones fast. Where it sees a cloud, the values of 1 - λ grow
evenly. No labels are needed to tell one from the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from scedae.spectral.affinity import Affinity, fuse
from scedae.spectral.embedding import spectral_basis, trivial_vector
from scedae.spectral.factored import gram_of

# A member whose contrast lies this much below the median has e⁻¹ of its weight.
_STEP = 0.25
# Cuts cheaper than this are all the same: clusters that nobody leaves.
_LEAVES_NEVER = 1e-3


def contrast(affinity: Affinity, column_scale: torch.Tensor, n_clusters: int) -> float:
    """How much faster direction 2k is left than the first k, as a logarithm."""
    alone = fuse([affinity], [column_scale])
    trivial = trivial_vector(alone.column_sums())
    n_vectors = max(2 * n_clusters - 1, 2)
    basis = spectral_basis(gram_of(alone), trivial, n_vectors)
    left = 1 - basis.singular_values**2 + _LEAVES_NEVER
    return float(np.log(left[-1] / left[: max(n_clusters - 1, 1)].mean()))


def weights_of(contrasts: Sequence[float]) -> np.ndarray:
    """A weight for each member, 1 on average, (m,).

    Members of middling and of high contrast count alike: only weakness tells.
    """
    behind = np.minimum(np.asarray(contrasts) - np.median(contrasts), 0)
    weights = np.exp(behind / _STEP)
    return weights / weights.mean()
