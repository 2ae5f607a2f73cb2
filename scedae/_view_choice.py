"""Of several views: is there one that the answer is better without?

A view of noise, or one that shows something else, blurs what the others show. Whether
it does is asked of the rows alone: clusters are to be trusted as far as halves of the
ensemble agree on them, and as rows lie nearer to their own centre than to the next.
One view at a time is left out, and only where the others are clearly more to be
trusted without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scedae import _spectral as spectral

if TYPE_CHECKING:
    from scedae._anchoring import Anchoring, GraphChoice
    from scedae._encoded import EncodedEnsemble

# The others must be so many times more to be trusted: a view that adds a little is
# worth more than one that is gone, and trust is an estimate.
_CLEARLY = 1.2
# Starts of k-means for clusters that are weighed, and not the last word.
_STARTS = 10


def view_to_leave_out(
    encoded: EncodedEnsemble,
    choice: GraphChoice,
    n_clusters: int,
    anchoring: Anchoring,
) -> str | None:
    """The name of the view that the others are better without, if there is one.

    ``choice`` is the graph of all members; the others get one that suits them.
    """
    seen = dict.fromkeys(member.spec.view for member in encoded.members)
    names = [name for name in seen if name is not None]
    if anchoring.tail.keeps_views or len(names) < 2 or n_clusters < 2:
        return None

    def trust_without(name: str) -> float:
        # Without those that see all views, too.
        others = {*names} - {name}
        kept = [member for member in encoded.members if member.spec.view in others]
        among = anchoring.of_some(kept)
        return _trust(among.choose(n_clusters), n_clusters, among)

    without = {name: trust_without(name) for name in names}
    worst = max(without, key=lambda name: without[name])
    needed = _CLEARLY * _trust(choice, n_clusters, anchoring)
    return worst if without[worst] > needed else None


def _trust(choice: GraphChoice, n_clusters: int, anchoring: Anchoring) -> float:
    """How far clusters of some members are to be trusted, from 0 to 1."""
    tail, seed = anchoring.tail, anchoring.seed
    fusion = choice.anchored.fusion
    basis = fusion.basis(spectral.n_vectors(tail.embedding, n_clusters))
    time = spectral.embedding_time(basis, tail.embedding, n_clusters, choice.kept)
    partition = spectral.partition_rows(
        fusion.points(basis, time),
        n_clusters,
        seed,
        rounded=tail.rounded,
        n_starts=_STARTS,
    )
    panel = fusion.panel(basis, tail.embedding, seed, choice.kept)
    stability = panel.stability(partition.kmeans_labels, n_clusters)
    return stability * partition.kmeans_margin
