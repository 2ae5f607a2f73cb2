"""Numbers as people read them."""

from __future__ import annotations

import math

import numpy as np


def short(value: float) -> str:
    """Three significant digits, whole numbers in full: 1,797 or 0.0312."""
    if not math.isfinite(value):
        return "–"
    if value == round(value) and abs(value) < 1e7:
        return f"{int(value):,}".replace("-", "−")
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def aligned(value: float, spread: float) -> str:
    """A value among others that differ by ``spread``: all with the same decimals."""
    if value == round(value) and spread >= 1:
        return short(value)
    decimals = 1 - math.floor(math.log10(spread)) if spread > 0 else 2
    if not 0 <= decimals <= 5:
        return short(value)
    rounded = round(value, decimals) + 0.0  # no minus before a zero
    return f"{rounded:,.{decimals}f}".replace("-", "−")


def percent(share: float) -> str:
    """A share as a percentage, without a false zero: 12%, 0.4%, <0.1%."""
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"


def seconds(value: float) -> str:
    """12 s, 0.8 s, 3 min 20 s."""
    if value < 60:
        return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def day(value: float) -> str:
    """A number of days since 1970 as a date."""
    if not math.isfinite(value):
        return "–"
    # With hyphens that no line breaks at.
    return str(np.datetime64(round(value), "D")).replace("-", "\N{NON-BREAKING HYPHEN}")
