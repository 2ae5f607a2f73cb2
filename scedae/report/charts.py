"""Axes and lines of small charts, as numbers that a template turns into SVG.

Drawn here and not by a script: they print, they need no JavaScript, and their
colours follow the theme because the style sheet sets them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scedae.report.numerals import short

# About the width of a phone, so that text keeps its size there; two fit on a screen.
WIDTH, HEIGHT = 460, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 26, 44


@dataclass(frozen=True)
class Axis:
    """Takes a value to a place between two ends of the chart."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log(value), math.log(low), math.log(high)
        share = (value - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[Tick]:
        if self.logarithmic:
            values = _logarithmic_ticks(self.low, self.high)
        else:
            values = _even_ticks(self.low, self.high)
        return [Tick(self.place(value), short(value)) for value in values]


@dataclass(frozen=True)
class Tick:
    place: float
    text: str


@dataclass(frozen=True)
class Line:
    """A curve: its points as SVG writes them, its style, and what it is."""

    points: str
    color: int
    text: str


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    text: str
    marked: bool


@dataclass(frozen=True)
class Chart:
    """Everything the template needs to draw."""

    x_title: str
    y_title: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    mark: Tick | None = None
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def x_axis(low: float, high: float) -> Axis:
    return Axis(low, high, _LEFT, WIDTH - _RIGHT)


def y_axis(low: float, high: float, *, logarithmic: bool = False) -> Axis:
    """From bottom to top, with a little air at both ends."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    return Axis(low, high, HEIGHT - _BOTTOM - 6, _TOP + 6, logarithmic)


def polyline(x: Axis, y: Axis, points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x.place(a)},{y.place(b)}" for a, b in points)


def _even_ticks(low: float, high: float) -> Sequence[float]:
    """Four to six round numbers."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(f for f in (1, 2, 2.5, 5, 10) if (high - low) / (f * step) <= 5.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _logarithmic_ticks(low: float, high: float) -> Sequence[float]:
    """1, 2 and 5 of every power of ten; the powers alone over a wide range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high / low < 100 else (1,)
    values = [float(f"{factor}e{power}") for power in powers for factor in factors]
    return [value for value in values if low <= value <= high]
