"""The report inside a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from scedae.report.write import render_report


class InlineReport:
    """A page that a notebook shows in a frame of its own; ``page`` is its text."""

    def __init__(self, page: str, height: int) -> None:
        self.page = page
        self._height = height

    def _repr_html_(self) -> str:
        # Scripts run, but know nothing of the notebook around them.
        return (
            f'<iframe srcdoc="{escape(self.page)}" width="100%" '
            f'height="{self._height}" sandbox="allow-scripts allow-downloads" '
            'style="border: 1px solid #8884; border-radius: 10px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"report of {len(self.page) / 1000:,.0f} kB, shown in a notebook"


def show(model: Any, X: Any, *, height: int = 720, **arguments: Any) -> InlineReport:
    """The report of a fitted model, to be shown by a notebook.

    Parameters
    ----------
    model, X
        As in ``write_report``.
    height : int, default=720
        Of the frame, in pixels.
    **arguments
        Others of ``write_report``: ``ids``, ``columns``, ``true_labels``, ``about``,
        ``names``, ``info``.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> from scedae.report import show
    >>> page = show(model, X, height=500)  # the last line of a notebook's cell
    """
    return InlineReport(render_report(model, X, **arguments), height)
