"""The directions in which rows vary most, and rows as seen along them.

Networks learn centred rows of one common scale in a tenth of the steps that rows
in [0, 1] need, and many columns say what few directions can say:
docs/appendix/lab-notes.md has the numbers. Distances keep their proportions, so members
on the rows gain as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.decomposition import PCA

from scedae._numerics import times

# Numbers that directions are learnt from, where there are more: 32 MB.
_NUMBERS_LEARNT = 1 << 23


@dataclass(frozen=True)
class Directions:
    """Rows are centred, turned and divided by one number for all of them."""

    center: torch.Tensor  # (d,) float32
    matrix: torch.Tensor  # (d, c) float32

    @property
    def n_directions(self) -> int:
        return self.matrix.shape[1]

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Coordinates of float32 rows, of shape (n, c)."""
        center, matrix = self.center.to(rows.device), self.matrix.to(rows.device)
        return times(rows - center, matrix)

    def to(self, device: torch.device) -> Directions:
        return Directions(self.center.to(device), self.matrix.to(device))


def rows_to_learn(n_columns: int) -> int:
    """How many rows are enough to learn directions from."""
    return max(_NUMBERS_LEARNT // n_columns, 1)


def find_directions(sample: torch.Tensor, at_most: int, seed: int) -> Directions:
    """The principal directions of some rows; along them the mean variance is one."""
    # Centred in float64, and before anything is squared: columns that vary little
    # beside their offset would otherwise drown in rounding.
    rows = sample.cpu().double()
    center = rows.mean(0)
    rows -= center
    # No square of a number in [-1, 1] overflows.
    largest = max(float(rows.max()), -float(rows.min())) or 1.0
    count = min(at_most, *rows.shape)
    if bool((sample == sample[0]).all()):
        # There is no direction to prefer.
        columns = torch.eye(rows.shape[1], count, dtype=torch.float32)
        return Directions(sample[0].cpu(), columns / largest)
    rows /= largest  # in place, and PCA copies nothing: there are many of them
    found = PCA(count, copy=False, random_state=seed % 2**32).fit(rows.numpy())
    spread = float(np.sqrt(found.explained_variance_.mean())) or 1.0
    matrix = np.ascontiguousarray(found.components_.T) / (spread * largest)
    return Directions(center.float(), torch.from_numpy(matrix).float())
