"""What there is to say about each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scedae.report import palette
from scedae.report.features import Contrast
from scedae.report.pictures import gray_picture, signed_picture
from scedae.report.source import Source

# Columns named as those that set a cluster apart, and shown when hovering over a row.
N_FEATURES = 5
# Columns that fit beside the id of a row in a card; one less beside a long id.
_N_VALUES = 3
_LONG_ID = 9
N_PICTURES, N_IDS = 8, 4


@dataclass(frozen=True)
class Feature:
    """One bar: a column, and how far the cluster is from the rest in it."""

    column: str
    difference: float  # in standard deviations
    mean: str  # of the cluster


@dataclass(frozen=True)
class RowView:
    """One row, as a picture or as a few values."""

    row: int
    id: str
    confidence: float
    values: list[str]


@dataclass(frozen=True)
class Card:
    """One cluster."""

    label: int
    color: int
    shape: str
    size: int
    share: float
    confidence: float
    features: list[Feature]
    value_columns: list[str]
    typical: list[RowView]
    doubtful: list[RowView]
    mean_picture: str | None = None
    difference_picture: str | None = None


@dataclass(frozen=True)
class ChosenRows:
    """Rows that stand for their cluster, and rows that may belong elsewhere."""

    typical: np.ndarray
    doubtful: np.ndarray


def choose_rows(
    labels: np.ndarray,
    distances: np.ndarray,
    confidence: np.ndarray,
    cluster: int,
    count: int,
) -> ChosenRows:
    """The rows nearest to the centre, and those with the smallest confidence."""
    rows = np.flatnonzero(labels == cluster)
    near = np.argsort(distances[rows, cluster], kind="stable")
    unsure = np.argsort(confidence[rows], kind="stable")
    return ChosenRows(rows[near[:count]], rows[unsure[:count]])


def describe_cluster(
    source: Source,
    labels: np.ndarray,
    confidence: np.ndarray,
    found: Contrast,
    cluster: int,
    chosen: ChosenRows,
    side: int | None,
) -> Card:
    """The card of one cluster."""
    mine = labels == cluster
    columns = found.strongest(cluster, N_FEATURES)
    features = [
        Feature(
            column_name(source, j, side),
            float(found.differences[cluster, j]),
            found.written(found.means[cluster, j], j),
        )
        for j in columns
        if found.differences[cluster, j] != 0
    ]
    rows_shown = np.r_[chosen.typical, chosen.doubtful]
    ids_are_long = max(len(source.ids[row]) for row in rows_shown) > _LONG_ID
    shown = columns[: _N_VALUES - ids_are_long]

    def views(rows: Sequence[int] | np.ndarray) -> list[RowView]:
        values = source.take(rows)[:, shown]
        return [
            RowView(
                int(row),
                source.ids[row],
                float(confidence[row]),
                [found.written(value, j) for value, j in zip(line, shown, strict=True)],
            )
            for row, line in zip(rows, values, strict=True)
        ]

    mean_picture = difference_picture = None
    if side is not None:
        means = found.means
        mean_picture = gray_picture(means[cluster], side, means.min(), means.max())
        difference_picture = signed_picture(
            found.differences[cluster], side, palette.ABOVE, palette.BELOW
        )
    return Card(
        label=cluster,
        color=palette.color(cluster),
        shape=palette.shape(cluster),
        size=int(mine.sum()),
        share=float(mine.mean()),
        confidence=float(confidence[mine].mean()),
        features=features,
        value_columns=[column_name(source, j, side) for j in shown],
        typical=views(chosen.typical),
        doubtful=views(chosen.doubtful),
        mean_picture=mean_picture,
        difference_picture=difference_picture,
    )


def column_name(source: Source, column: int, side: int | None) -> str:
    """The name given, or the place of a pixel without one."""
    if side is not None and not source.columns_are_named:
        return f"pixel {column // side}, {column % side}"
    return source.columns[column]
