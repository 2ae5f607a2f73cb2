"""Of several views: is there one that the answer is better without?

A view of noise, or one that shows something else, blurs what the others show. Whether
it does is asked of the rows alone: clusters are to be trusted as far as halves of the
ensemble agree on them, and as rows lie nearer to their own centre than to the next.
One view at a time is left out, and only where the others are clearly more to be
trusted without it.
"""

from __future__ import annotations

from scedae import _spectral as spectral
from scedae._anchoring import Tail
from scedae._fusion import Anchored

# The others must be so many times more to be trusted: a view that adds a little is
# worth more than one that is gone, and trust is an estimate.
_CLEARLY = 1.2
# Starts of k-means for clusters that are weighed, and not the last word.
_STARTS = 10


def view_to_leave_out(
    anchored: Anchored, n_clusters: int, tail: Tail, seed: int
) -> str | None:
    """The name of the view that the others are better without, if there is one."""
    seen = dict.fromkeys(member.spec.view for member in anchored.members)
    names = [name for name in seen if name is not None]
    if tail.keeps_views or len(names) < 2 or n_clusters < 2:
        return None
    without = {
        name: _trust(_of_views(anchored, {*names} - {name}), n_clusters, tail, seed)
        for name in names
    }
    worst = max(without, key=lambda name: without[name])
    needed = _CLEARLY * _trust(anchored, n_clusters, tail, seed)
    return worst if without[worst] > needed else None


def _of_views(anchored: Anchored, names: set[str]) -> Anchored:
    """The members of some views; those that see all of them are not among these."""
    pairs = zip(anchored.members, anchored.affinities, strict=True)
    kept = [(member, z) for member, z in pairs if member.spec.view in names]
    return Anchored([m for m, _ in kept], [z for _, z in kept], anchored.n_neighbors)


def _trust(anchored: Anchored, n_clusters: int, tail: Tail, seed: int) -> float:
    """How far clusters of some members are to be trusted, from 0 to 1."""
    fusion = anchored.fusion
    basis = fusion.basis(spectral.n_vectors(tail.embedding, n_clusters))
    time = spectral.embedding_time(basis, tail.embedding, n_clusters)
    partition = spectral.partition_rows(
        fusion.points(basis, time),
        n_clusters,
        seed,
        rounded=tail.rounded,
        n_starts=_STARTS,
    )
    panel = fusion.panel(basis, tail.embedding, seed)
    stability = panel.stability(partition.kmeans_labels, n_clusters)
    return stability * partition.kmeans_margin
