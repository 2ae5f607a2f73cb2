"""What the other parts look at: the rows, their clusters, and how sure these are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from scedae.report.about import About, about_columns
from scedae.report.features import Contrast, contrast
from scedae.report.pictures import picture_side
from scedae.report.profiles import Trait, by_strength, traits_of
from scedae.report.source import NamedRows


@dataclass(frozen=True)
class Findings:
    """A clustering of named rows."""

    source: NamedRows
    labels: np.ndarray  # (n,)
    distances: np.ndarray  # (n, k) to the centres
    confidence: np.ndarray  # (n,)
    contrast: Contrast
    side: int | None  # pixels, when rows are square pictures
    about: list[About]  # what else is known of the rows
    traits: list[Trait]
    is_described: (
        bool  # whether rows are told of by that, and not by what was clustered
    )

    def telling(self, cluster: int, count: int) -> list[About]:
        """The columns that set a cluster apart, strongest first."""
        order = by_strength(self.traits, cluster)
        return list({t.column.name: t.column for t in order}.values())[:count]

    def column_name(self, column: int) -> str:
        """The name given, or the place of a pixel without one."""
        if self.side is not None and not self.source.columns_are_named:
            return f"pixel {column // self.side},{column % self.side}"
        return self.source.columns[column]


def look_at(model: Any, source: NamedRows, given: Any = None) -> Findings:
    """Everything that is computed once and used in several places."""
    labels = np.asarray(model.labels_)
    side = picture_side(source)
    about = about_columns(source, given, pixels=side is not None)
    n_clusters = len(model.cluster_centers_)
    return Findings(
        source,
        labels,
        cdist(model.embedding_, model.cluster_centers_),
        model.confidence_,
        contrast(source, labels, n_clusters),
        side,
        about,
        traits_of(about, labels, n_clusters),
        given is not None and side is None,
    )
