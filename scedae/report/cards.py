"""What there is to say about each cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scedae import _palette as palette
from scedae.report.about import About
from scedae.report.findings import Findings
from scedae.report.pictures import gray_picture, signed_picture
from scedae.report.profiles import ProfileLine, profile

# Columns named as those that set a cluster apart, and shown when hovering over a row.
N_FEATURES = 5
# Columns that fit beside the id of a row in a card; one less beside a long id.
_N_VALUES = 3
_LONG_ID = 9
# Typical and doubtful rows of a card: pictures, or lines of a table.
_N_PICTURES, _N_LINES = 8, 4


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
    name: str
    color: int
    shape: str
    size: int
    share: float
    confidence: float
    features: list[Feature]
    profile: list[ProfileLine]
    value_columns: list[str]
    typical: list[RowView]
    doubtful: list[RowView]
    mean_picture: str | None
    difference_picture: str | None


@dataclass(frozen=True)
class ChosenRows:
    """Rows that stand for their cluster, and rows that may belong elsewhere."""

    typical: np.ndarray
    doubtful: np.ndarray


def choose_rows(findings: Findings, cluster: int) -> ChosenRows:
    """The rows nearest to the centre, and those with the smallest confidence."""
    count = _N_LINES if findings.side is None else _N_PICTURES
    rows = np.flatnonzero(findings.labels == cluster)
    near = np.argsort(findings.distances[rows, cluster], kind="stable")
    unsure = np.argsort(findings.confidence[rows], kind="stable")
    return ChosenRows(rows[near[:count]], rows[unsure[:count]])


def describe_cluster(
    findings: Findings, cluster: int, chosen: ChosenRows, name: str | None
) -> Card:
    """The card of one cluster."""
    mine = findings.labels == cluster
    columns = findings.contrast.strongest(cluster, N_FEATURES)
    rows_shown = np.r_[chosen.typical, chosen.doubtful]
    longest_id = max(len(findings.source.ids[row]) for row in rows_shown)
    shown = columns[: _N_VALUES - (longest_id > _LONG_ID)]
    mean_picture, difference_picture = _pictures(findings, cluster)
    if findings.is_described:
        told = findings.telling(cluster, len(shown))
        names = [column.name for column in told]
        views = [
            _told(findings, rows, told) for rows in (chosen.typical, chosen.doubtful)
        ]
    else:
        names = [findings.column_name(j) for j in shown]
        views = [
            _views(findings, rows, shown) for rows in (chosen.typical, chosen.doubtful)
        ]
    return Card(
        label=cluster,
        name=name or f"Cluster {cluster}",
        color=palette.color(cluster),
        shape=palette.shape(cluster),
        size=int(mine.sum()),
        share=float(mine.mean()),
        confidence=float(findings.confidence[mine].mean()),
        features=_features(findings, cluster, columns),
        profile=profile(findings.traits, findings.labels, cluster),
        value_columns=names,
        typical=views[0],
        doubtful=views[1],
        mean_picture=mean_picture,
        difference_picture=difference_picture,
    )


def _features(findings: Findings, cluster: int, columns: np.ndarray) -> list[Feature]:
    found = findings.contrast
    return [
        Feature(
            findings.column_name(j),
            float(found.differences[cluster, j]),
            found.written(found.means[cluster, j], j),
        )
        for j in columns
        if found.differences[cluster, j] != 0
    ]


def _told(findings: Findings, rows: np.ndarray, columns: list[About]) -> list[RowView]:
    return [
        RowView(
            int(row),
            findings.source.ids[row],
            float(findings.confidence[row]),
            [column.written(int(row)) for column in columns],
        )
        for row in rows
    ]


def _views(findings: Findings, rows: np.ndarray, columns: np.ndarray) -> list[RowView]:
    values = findings.source.take(rows)[:, columns]
    return [
        RowView(
            int(row),
            findings.source.ids[row],
            float(findings.confidence[row]),
            [
                findings.contrast.written(value, j)
                for value, j in zip(line, columns, strict=True)
            ],
        )
        for row, line in zip(rows, values, strict=True)
    ]


def _pictures(findings: Findings, cluster: int) -> tuple[str | None, str | None]:
    """The mean picture, and how it differs from that of all other rows."""
    if findings.side is None:
        return None, None
    found, side = findings.contrast, findings.side
    low, high = found.means.min(), found.means.max()
    return (
        gray_picture(found.means[cluster], side, low, high),
        signed_picture(found.differences[cluster], side, palette.ABOVE, palette.BELOW),
    )
