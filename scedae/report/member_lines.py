"""The members of the ensemble: what they are, how they learnt, what they agree on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scedae import _palette as palette
from scedae.report.charts import Chart, Line, polyline, x_axis, y_axis

# A curve of more points looks the same.
_POINTS_OF_A_CURVE = 150
# Losses that fall by more than this are drawn on a logarithmic scale.
_WIDE_RANGE = 4


@dataclass(frozen=True)
class MemberLine:
    """One line of the table of members."""

    number: int
    layers: str
    epochs: int
    n_landmarks: int
    loss: float | None
    fate: str  # what to say of one that took no part
    agreement: float | None
    view: str | None = None  # that it sees; None: all there is


def member_lines(model: Any) -> list[MemberLine]:
    """All members, with their agreement; those that collapsed have none."""
    return [
        MemberLine(
            number,
            " – ".join(map(str, member.spec.hidden_layers)) or "the rows themselves",
            member.spec.epochs,
            member.spec.n_landmarks,
            member.loss if member.history else None,
            _fate(member),
            float(share) if math.isfinite(share) else None,
            member.spec.view,
        )
        for number, (member, share) in enumerate(
            zip(model.members_, model.member_agreement_, strict=True), 1
        )
    ]


def _fate(member: Any) -> str:
    if member.collapsed:
        return "collapsed, left out"
    return "left out with its view" if member.left_out else ""


@dataclass(frozen=True)
class TrainingCurves:
    """Loss by epoch, one line for each training."""

    chart: Chart
    legend: list[Line]


def draw_curves(members: Sequence[Any]) -> TrainingCurves | None:
    """None when nothing was trained.

    Members that are snapshots of one training, or other landmarks on it, share a line.
    """
    numbers: dict[object, list[int]] = {}
    losses: dict[object, list[float]] = {}
    for number, member in enumerate(members, 1):
        history = [epoch["loss"] for epoch in member.history]
        if not history or not np.isfinite(history).all():
            continue
        key = member.spec.training
        numbers.setdefault(key, []).append(number)
        losses[key] = max(losses.get(key, []), history, key=len)
    if not losses:
        return None
    low = min(map(min, losses.values()))
    high = max(map(max, losses.values()))
    longest = max(map(len, losses.values()))
    logarithmic = low > 0 and high > _WIDE_RANGE * low
    x = x_axis(1, max(longest, 2))
    y = y_axis(low, high, logarithmic=logarithmic)
    lines = [
        Line(
            polyline(x, y, _thinned(losses[key])),
            palette.color(i),
            ", ".join(map(str, numbers[key])),
        )
        for i, key in enumerate(losses)
    ]
    chart = Chart("epoch", "loss", x.ticks(), y.ticks(), lines)
    return TrainingCurves(chart, lines)


def _thinned(losses: list[float]) -> list[tuple[int, float]]:
    """Epoch and loss, evenly thinned, first and last kept."""
    count = min(len(losses), _POINTS_OF_A_CURVE)
    kept = np.unique(np.linspace(0, len(losses) - 1, count).round().astype(int))
    return [(int(i) + 1, losses[i]) for i in kept]
