"""A compact picture of a fitted model, for notebooks: sizes of clusters and doubt."""

from __future__ import annotations

from typing import Any

import numpy as np

# More clusters than this make no picture that anybody reads.
_SHOWN = 12


def clusters_html(model: Any) -> str:
    """A bar for each cluster, as HTML; nothing for a model that is not fitted."""
    labels = getattr(model, "labels_", None)
    if not isinstance(labels, np.ndarray):
        return ""
    sizes = np.bincount(labels)
    confidence = getattr(model, "confidence_", None)
    lines = [
        _line(label, int(size), sizes.max(), _mean(confidence, labels == label))
        for label, size in list(enumerate(sizes))[:_SHOWN]
    ]
    head = f"<b>{len(labels):,} rows in {model.n_clusters_:,} clusters</b>"
    if hasattr(model, "stability_"):
        head += f", stability {model.stability_:.2f}"
    if len(sizes) > _SHOWN:
        lines.append(f"<tr><td>… {len(sizes) - _SHOWN:,} more</td></tr>")
    words = ("cluster", "rows", "", "confidence")
    heads = "".join(f"<th>{word}</th>" for word in words)
    return f"<div>{head}<table><tr>{heads}</tr>{''.join(lines)}</table></div>"


def _mean(confidence: Any, mine: np.ndarray) -> str:
    return (
        "" if confidence is None or not mine.any() else f"{confidence[mine].mean():.2f}"
    )


def _line(label: int, size: int, largest: int, confidence: str) -> str:
    width = 100 * size / max(int(largest), 1)
    style = "height:8px;background:#2e6fb4;border-radius:4px"
    bar = f'<div style="{style};width:{width:.0f}%"></div>'
    return (
        f'<tr><td>{label}</td><td>{size:,}</td><td style="width:160px">{bar}</td>'
        f"<td>{confidence}</td></tr>"
    )
