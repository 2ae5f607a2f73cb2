"""What the rows say about the number of clusters, ready to be read."""

from __future__ import annotations

from dataclasses import dataclass

from scedae._spectral import Candidate

# Best candidates shown by ``repr``.
_SHOWN = 5

# Clouds without clusters, of 2 to 50 columns, score at most 0.2, sets with classes at
# least 0.6 (docs/number-of-clusters.md).
_CLEAR_SCORE = 0.3


@dataclass(frozen=True, repr=False)
class ClusterSuggestion:
    """Numbers of clusters with the evidence for each, the best first.

    Attributes
    ----------
    candidates : tuple of Candidate
        Each has ``n_clusters``, ``gap``, ``stability`` and ``score``.

    Examples
    --------
    >>> from scedae import suggest_clusters
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(400, random_state=0)
    >>> suggestion = suggest_clusters(X, epochs=60, random_state=0)
    >>> suggestion.n_clusters, suggestion.clear
    (4, True)
    """

    candidates: tuple[Candidate, ...]

    @property
    def n_clusters(self) -> int:
        """The best number."""
        return self.candidates[0].n_clusters

    @property
    def clear(self) -> bool:
        """Whether the best number stands out from what a cloud of noise would give."""
        return self.candidates[0].score >= _CLEAR_SCORE

    def table(self, n_rows: int | None = None) -> str:
        """The best ``n_rows`` candidates (all, if None), one a line."""
        lines = ["clusters    gap  stability  score"]
        for each in self.candidates[:n_rows]:
            lines.append(
                f"{each.n_clusters:8d}  {each.gap:5.2f}  {each.stability:9.2f}"
                f"  {each.score:5.2f}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A bar for each of the best candidates, for notebooks."""
        best = self.candidates[:_SHOWN]
        widest = max(max(each.score for each in best), 1e-9)
        lines = "".join(
            f"<tr><td>{each.n_clusters}</td><td>{each.gap:.2f}</td>"
            f"<td>{each.stability:.2f}</td><td>{each.score:.2f}</td>"
            f'<td style="width:160px"><div style="height:8px;background:#2e6fb4;'
            f'border-radius:4px;width:{100 * max(each.score, 0) / widest:.0f}%">'
            "</div></td></tr>"
            for each in best
        )
        head = "".join(
            f"<th>{word}</th>" for word in ("clusters", "gap", "stability", "score", "")
        )
        return f"<b>{self._head()}</b><table><tr>{head}</tr>{lines}</table>"

    def _head(self) -> str:
        if self.clear:
            return f"{self.n_clusters} clusters"
        return f"no number of clusters stands out (best guess: {self.n_clusters})"

    def __repr__(self) -> str:
        rest = len(self.candidates) - _SHOWN
        tail = f"\n… and {rest} more: .table()" if rest > 0 else ""
        return f"{self._head()}\n{self.table(_SHOWN)}{tail}"
