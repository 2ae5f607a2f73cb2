"""The rows on the map, packed for the script of the page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from scedae.report.cards import N_FEATURES, Card
from scedae.report.findings import Findings
from scedae.report.pictures import Sheet
from scedae.report.places import Places

# More points than this only cover each other, and make the page large.
MOST_POINTS = 10_000
_LARGEST_INT16 = 32767


def sample_rows(n_rows: int, always: np.ndarray) -> np.ndarray:
    """Rows to draw, ascending: all, or a sample that has those of the cards in it."""
    if n_rows <= MOST_POINTS:
        return np.arange(n_rows)
    order = np.random.default_rng(0).permutation(n_rows)
    first = np.unique(always)
    rest = order[~np.isin(order, first)]
    return np.sort(np.concatenate([first, rest])[:MOST_POINTS])


def pack_points(
    findings: Findings,
    sample: np.ndarray,
    cards: list[Card],
    maps: list[Places],
    sheet: Sheet | None,
) -> dict[str, Any]:
    """What ``map.js`` reads: lists for text, base64 for numbers.

    A row shows the values of those columns that set its own cluster apart.
    """
    source, labels = findings.source, findings.labels[sample]
    n_values = min(N_FEATURES, source.n_columns)
    confidence = findings.confidence[sample].clip(0, 1)
    values = np.zeros((len(sample), n_values), dtype=np.float32)
    columns = {}
    for card in cards:
        mine = np.flatnonzero(labels == card.label)
        shown = findings.contrast.strongest(card.label, n_values)
        columns[card.label] = [findings.column_name(j) for j in shown]
        if len(mine):
            values[mine] = source.take(sample[mine])[:, shown]
    return {
        "ids": [source.ids[row] for row in sample],
        "labels": _packed(labels.astype("<u2")),
        "confidence": _packed((255 * confidence).astype("u1")),
        "maps": [_packed(_sixteen_bits(places.xy)) for places in maps],
        "values": _packed(values.astype("<f4")),
        "valuesPerRow": n_values,
        "columns": columns,
        "clusters": [
            {"label": card.label, "color": card.color, "shape": card.shape}
            for card in cards
        ],
        "pictures": None if sheet is None else {"across": sheet.across},
    }


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()


def _sixteen_bits(xy: np.ndarray) -> np.ndarray:
    """Places as small integers, both directions by one factor."""
    centered = xy - (xy.min(axis=0) + xy.max(axis=0)) / 2
    extent = max(np.abs(centered).max(), 1e-300)
    return (centered / extent * _LARGEST_INT16).round().astype("<i2")
