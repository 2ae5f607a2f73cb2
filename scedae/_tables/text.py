"""Free text made into a few numbers: words and their parts, weighed and condensed.

scikit-learn's hashing, TF-IDF weights and truncated singular value decomposition. The
words are hashed, so that nothing of the text itself is kept in a model.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer

from scedae._tables.columns import Cells, Plan
from scedae._tables.kinds import TEXT, Kind
from scedae._tables.values import without_gaps

_N_HASHED = 1024
_DIMENSIONS = 8
# Rows that the directions are learnt from.
_LEARNT_FROM = 20_000


@dataclass(frozen=True)
class TextColumn(Plan):
    """Free text as a block of directions, with the variance of one column."""

    weights: str  # (1024,) of hashed words, packed
    directions: str  # (8, 1024), packed
    center: list[float]  # (8,)

    def __post_init__(self) -> None:
        width = len(self.center)
        if not 1 <= width <= _DIMENSIONS or not np.isfinite(self.center).all():
            raise ValueError("directions of text without a centre")
        self._matrix.reshape(width, _N_HASHED)

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name} ({i})" for i in range(1, len(self.center) + 1)]

    @cached_property
    def _matrix(self) -> np.ndarray:
        """Weighted directions, of shape (8, 1024)."""
        return _unpacked(self.directions).reshape(-1, _N_HASHED)

    @cached_property
    def _weights(self) -> np.ndarray:
        return _unpacked(self.weights)

    def apply(self, column: pl.Series, na_values: tuple[str, ...]) -> Cells:
        cells = without_gaps(column, na_values).cast(pl.String)
        gaps = cells.is_null().to_numpy()
        counts = _hashed(cells.fill_null(""))
        weighed = _unit_rows(counts.multiply(self._weights).tocsr())
        block = weighed @ self._matrix.T - np.asarray(self.center)
        block[gaps] = 0
        return Cells(block.astype(np.float32), 0)


def learn_text(name: str, kind: Kind, gaps: int) -> TextColumn:
    """Weights of words and the directions in which texts differ most."""
    filled = kind.cells.drop_nulls()
    sample = filled.gather_every(max(len(filled) // _LEARNT_FROM, 1))
    counts = _hashed(sample)
    frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
    weights = (np.log((1 + len(sample)) / (1 + frequency)) + 1).astype("<f4")
    weighed = _unit_rows(counts.multiply(weights).tocsr())
    n_directions = max(min(_DIMENSIONS, min(weighed.shape) - 1), 1)
    svd = TruncatedSVD(n_directions, random_state=0).fit(weighed)
    points = weighed @ svd.components_.T
    spread = float(np.sqrt(points.var(axis=0).sum())) or 1.0
    directions = (svd.components_ / spread).astype("<f4")
    return TextColumn(
        name=name,
        kind=TEXT,
        gaps=gaps,
        odd=None,
        weights=_packed(weights),
        directions=_packed(directions),
        center=(weighed @ directions.T).mean(axis=0).tolist(),
    )


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(numbers.tobytes()).decode()


def _unpacked(text: str) -> np.ndarray:
    numbers = np.frombuffer(base64.b64decode(text), "<f4").astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("numbers of text that are not finite")
    return numbers


def _hashed(texts: pl.Series) -> scipy.sparse.csr_matrix:
    hashing = HashingVectorizer(
        n_features=_N_HASHED, alternate_sign=False, norm=None, ngram_range=(1, 2)
    )
    return hashing.transform(texts.to_list())


def _unit_rows(rows: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
    norms[norms == 0] = 1
    return scipy.sparse.diags(1 / norms) @ rows
