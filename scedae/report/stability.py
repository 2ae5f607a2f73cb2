"""Whether another look would find the same clusters, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

# Below this a clustering says more about the method than about the rows.
_LOW, _HIGH = 0.5, 0.8
_NEXT_BEST = 3


def second_opinion(model: Any) -> str:
    """What two halves of the ensemble say, and how the number was found, if it was."""
    stability = round(model.stability_, 2)  # as it is shown
    if stability >= _HIGH:
        verdict = "another look would find nearly the same clusters"
    elif stability >= _LOW:
        verdict = "another look would find some of these clusters, not all"
    else:
        verdict = "another look would find other clusters: do not lean on these"
    text = (
        "Two halves of the ensemble, each taught by half of the rows, agree with each "
        f"other and with the whole by {stability:.2f} (adjusted Rand index, 1 is "
        f"perfect, 0 is chance): {verdict}."
    )
    if not hasattr(model, "suggestion_"):
        return text
    best, *others = model.suggestion_.candidates
    following = ", ".join(
        f"{each.n_clusters} ({each.score:.2f})" for each in others[:_NEXT_BEST]
    )
    found = f"The number of clusters was found, not given: {best.n_clusters} scores "
    return f"{text} {found}{best.score:.2f}" + (
        f", the next best are {following}." if following else "."
    )


def expected_to_hold(model: Any) -> str | None:
    """How many rows another ensemble would put into the same cluster, in words."""
    if not hasattr(model, "probabilities_"):
        return None
    n_rows = len(model.probabilities_)
    total = model.probabilities_.max(axis=1).sum()
    doubtful = float(np.quantile(model.confidence_, 0.05))
    return (
        f"The chances of the rows' own clusters add up to {total:,.0f} of {n_rows:,} "
        "rows: so many would be put into the same cluster by an ensemble that knows "
        "nothing of this one. The least sure twentieth has a confidence below "
        f"{doubtful:.2f}; predict(X, reject=0.05) leaves such rows without a label."
    )
