"""The rows on the map, packed for the script of the page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from scedae.report.about import About, CategoryAbout
from scedae.report.cards import N_FEATURES, Card
from scedae.report.findings import Findings
from scedae.report.numerals import day, short
from scedae.report.pictures import Sheet
from scedae.report.places import Places

# More points than this only cover each other, and make the page large.
MOST_POINTS = 10_000
_LARGEST_INT16 = 32767
# What stands for a gap among the colours of a column.
_GAP = 255


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
    cells: list[list[str]] | None = None
    if findings.is_described:
        cells = [[] for _ in sample]
    for card in cards:
        mine = np.flatnonzero(labels == card.label)
        if cells is not None:
            told = findings.telling(card.label, N_FEATURES)
            columns[card.label] = [column.name for column in told]
            for i in mine:
                cells[i] = [column.written(int(sample[i])) for column in told]
            continue
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
        "cells": cells,
        "clusters": [
            {
                "label": card.label,
                "name": card.name,
                "color": card.color,
                "shape": card.shape,
            }
            for card in cards
        ],
        "about": [_packed_about(column, sample) for column in findings.about],
        "pictures": None if sheet is None else {"across": sheet.across},
    }


def _packed_about(column: About, sample: np.ndarray) -> dict[str, Any]:
    """A column to colour the map by: a byte for each row, 255 for a gap."""
    if isinstance(column, CategoryAbout):
        codes = np.where(column.codes < 0, _GAP, column.codes)[sample]
        return {
            "name": column.name,
            "levels": column.levels,
            "bytes": _packed(codes.astype("u1")),
        }
    values = column.values[sample]
    there = np.isfinite(values)
    low, high = 0.0, 1.0
    if there.any():
        low, high = np.quantile(values[there], [0.01, 0.99])
    shares = (np.where(there, values, low) - low) / max(high - low, 1e-300)
    steps = np.where(there, (shares.clip(0, 1) * (_GAP - 1)).round(), _GAP)
    written = day if column.is_date else short
    return {
        "name": column.name,
        "low": written(float(low)),
        "high": written(float(high)),
        "bytes": _packed(steps.astype("u1")),
    }


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()


def _sixteen_bits(xy: np.ndarray) -> np.ndarray:
    """Places as small integers, both directions by one factor."""
    centered = xy - (xy.min(axis=0) + xy.max(axis=0)) / 2
    extent = max(np.abs(centered).max(), 1e-300)
    return (centered / extent * _LARGEST_INT16).round().astype("<i2")
