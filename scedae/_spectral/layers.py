"""layers: the clusters of one fit at other numbers of clusters, each inside the next.

Upwards clusters are merged, downwards they are split, and nothing is trained again: the
layer at the number of the fit is the fit's own answer. Both follow Ward (1963), who
merges the two groups whose union adds least to the squared distances from means.

- *Merging* goes by two kinds of coordinates of a cluster: its mean in the embedding
  after eight times the time of diffusion, by which near clusters have flowed together;
  and its mean in the encodings, since clusters that no tie connects are all equally
  far from each other in the embedding.
- *Splitting* goes by the embedding after a shorter time, since by the time of the fit
  the rows of a cluster that nothing ties to others have become one. Pieces of each
  cluster are found by Ward on a sample of its rows; a row belongs to the nearest piece
  of its own cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage, ward
from scipy.spatial.distance import pdist

from scedae._spectral.distances import nearest
from scedae._spectral.kmeans import means_by_label

# Times the time of diffusion, for the clusters' distances from each other.
LAYER_TIMES = 8
# What the last vector keeps at least of its weight, where clusters are split.
_LEAST_WEIGHT = 0.25
# Pieces: so many for each cluster on average, and at least so many in all, as long as
# rows are enough.
_PIECES_A_CLUSTER, _FEWEST_PIECES, _ROWS_A_PIECE = 3, 12, 5
# Rows of a cluster by which it is split.
_MOST_ROWS = 500


@dataclass(frozen=True)
class Layer:
    """A number of clusters at which the layers of a fit may be cut.

    Attributes
    ----------
    n_clusters : int
    stability : float
        How much halves of the ensemble agree with these clusters and with each other,
        from 0 (by chance) to 1.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> 3 in [layer.n_clusters for layer in model.layers_]
    True
    >>> bool((model.labels_at(3) == model.labels_).all())
    True
    """

    n_clusters: int
    stability: float


@dataclass(frozen=True)
class Tree:
    """Pieces of clusters, and how they are put together again."""

    centers: torch.Tensor  # (f, q) of the pieces, after the splitting time, float64
    owners: torch.Tensor  # (f,) the cluster that each is a part of; never falling
    linkage: np.ndarray  # (f - 1, 4) in SciPy's form

    @property
    def n_pieces(self) -> int:
        return len(self.owners)

    @property
    def n_clusters(self) -> int:
        """Clusters of the fit that have rows."""
        return len(self.owners.unique())

    def names(self, n_clusters: int) -> np.ndarray:
        """The label of each piece in the layer of so many clusters, (f,).

        In the layer of the fit, its labels; in others, numbers in the order of the
        clusters of the fit.
        """
        if n_clusters == self.n_clusters:
            return self.owners.cpu().numpy()
        names = np.arange(self.n_pieces)
        for left, right in _joined(self.linkage, self.n_pieces - n_clusters):
            names[np.isin(names, right)] = names[left[0]]
        return np.unique(names, return_inverse=True)[1]

    def pieces(self, points: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The piece of each row, by its coordinates and cluster, of shape (n,)."""
        found = torch.empty_like(labels)
        for cluster in self.owners.unique().tolist():
            rows = (labels == cluster).nonzero()[:, 0]
            own = (self.owners == cluster).nonzero()[:, 0]
            if len(rows):
                found[rows] = own[nearest(points[rows], self.centers[own])[:, 0]]
        return found

    def to(self, device: torch.device) -> Tree:
        return Tree(self.centers.to(device), self.owners.to(device), self.linkage)


def _joined(
    linkage: np.ndarray, n_merges: int
) -> Iterable[tuple[list[int], list[int]]]:
    """The leaves on both sides of the first merges."""
    members: dict[int, list[int]] = {}
    n_leaves = len(linkage) + 1
    for i, (a, b) in enumerate(linkage[:n_merges, :2].astype(int)):
        left, right = (members.get(int(side), [int(side)]) for side in (a, b))
        members[n_leaves + i] = left + right
        yield left, right


def splitting_time(singular_values: np.ndarray, time: float) -> float:
    """Time of diffusion of the coordinates by which clusters are split."""
    first, last = float(singular_values[0]), float(singular_values[-1])
    if last <= 0 or first <= 0:
        return 0.0
    if last >= first:
        return time
    return min(time, math.log(_LEAST_WEIGHT) / math.log(last / first))


def grow_tree(
    points: torch.Tensor,
    labels: torch.Tensor,
    merging: np.ndarray,
    generator: torch.Generator,
) -> Tree | None:
    """Split clusters into pieces, and merge pieces and clusters; None: nothing to do.

    Parameters
    ----------
    points : tensor of shape (n, q)
        The rows at hand, embedded after the ``splitting_time``.
    labels : tensor of shape (n,)
    merging : ndarray of shape (k, c)
        Coordinates of the clusters among each other (``merging_coordinates``).
    generator : torch.Generator
        Draws the rows by which clusters are split.
    """
    names = labels.unique()
    n_pieces = max(_PIECES_A_CLUSTER * len(names), _FEWEST_PIECES)
    n_pieces = max(min(n_pieces, len(labels) // _ROWS_A_PIECE), len(names))
    centers, owners = _split(points, labels, n_pieces, generator)
    tree = Tree(centers, owners, np.empty((0, 4)))
    counts = torch.bincount(tree.pieces(points, labels), minlength=len(owners))
    # A mean of rows may lose them all to its neighbours: it is no piece then.
    kept = counts > 0
    tree = Tree(centers[kept], owners[kept], tree.linkage)
    if tree.n_pieces < 2:
        return None
    sizes = counts[kept].cpu().numpy()
    return Tree(tree.centers, tree.owners, _link(tree, sizes, merging))


def _split(
    points: torch.Tensor,
    labels: torch.Tensor,
    n_pieces: int,
    generator: torch.Generator,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Centres of so many pieces at most, and the clusters that they are parts of.

    The highest merges of all clusters' trees are undone, wherever they are.
    """
    order = torch.randperm(len(labels), generator=generator).to(labels.device)
    samples, trees = {}, {}
    for name in labels.unique().tolist():
        own = order[labels[order] == name]
        some = points[own[:_MOST_ROWS]].cpu().numpy()
        samples[name] = some
        if len(some) > 1:
            # As high as if all rows had been there.
            trees[name] = ward_tree(some), (len(own) / len(some)) ** 0.5
    heights = [
        (scale * float(height), name)
        for name, (tree, scale) in trees.items()
        for height in tree[:, 2]
        if height > 1e-9  # rows of length one that are equal up to rounding
    ]
    heights.sort(key=lambda pair: (-pair[0], pair[1]))
    undone = [name for _, name in heights[: n_pieces - len(samples)]]
    centers, owners = [], []
    for name, some in samples.items():
        n_parts = 1 + undone.count(name)
        parts = np.ones(len(some), dtype=int)
        if n_parts > 1:
            parts = fcluster(trees[name][0], n_parts, "maxclust")
        for part in np.unique(parts):
            centers.append(some[parts == part].mean(axis=0))
            owners.append(name)
    there = points.device
    return torch.from_numpy(np.array(centers)).to(there), torch.tensor(owners).to(there)


def _link(tree: Tree, sizes: np.ndarray, merging: np.ndarray) -> np.ndarray:
    """The linkage: first pieces of each cluster, then clusters."""
    centers, owners = tree.centers.cpu().numpy(), tree.owners.cpu().numpy()
    names = np.unique(owners)
    inner: list[tuple[float, int, int, int]] = []  # height, cluster, its two nodes
    weights = np.array([sizes[owners == name].sum() for name in names])
    outer = ward_merges(merging[names], weights)
    for name in names:
        own = np.flatnonzero(owners == name)
        for a, b, height in ward_merges(centers[own], sizes[own]):
            inner.append((height, int(name), a, b))
    # What is split is lower than what is merged, though measured in other units.
    highest = max((height for height, *_ in inner), default=0.0)
    lowest = outer[0][2] if outer else highest
    factor = min(1.0, lowest / highest) if highest > 0 else 1.0
    inner.sort(key=lambda merge: merge[0])  # a cluster's own order stays

    lines: list[list[float]] = []
    counts = [1] * len(owners)  # SciPy counts leaves

    def join(a: int, b: int, height: float) -> int:
        counts.append(counts[a] + counts[b])
        lines.append([min(a, b), max(a, b), height, counts[-1]])
        return len(counts) - 1

    nodes = {
        int(name): list(map(int, np.flatnonzero(owners == name))) for name in names
    }
    for height, name, a, b in inner:
        nodes[name].append(join(nodes[name][a], nodes[name][b], factor * height))
    roots = [nodes[int(name)][-1] for name in names]
    for a, b, height in outer:
        roots.append(join(roots[a], roots[b], height))
    found = np.array(lines)
    # Heights of equal merges may fall by rounding.
    found[:, 2] = np.maximum.accumulate(found[:, 2])
    return found


def ward_tree(points: np.ndarray) -> np.ndarray:
    """Ward's merges of points that stand for themselves, in SciPy's form.

    By their distances: SciPy would take a few points at the origin for a matrix of
    distances, and warn.
    """
    return ward(pdist(points))


def ward_merges(points: np.ndarray, sizes: np.ndarray) -> list[tuple[int, int, float]]:
    """Ward's merges of points that stand for so many rows each, lowest first.

    Points have the numbers 0 … n - 1, and each merge the next one. The height is that
    of SciPy: the root of twice what the union adds to the squared distances from means.
    """
    places, weights = np.array(points, dtype=np.float64), np.array(sizes, dtype=float)
    n = len(places)
    numbers, left = np.arange(n), np.ones(n, dtype=bool)
    costs = np.full((n, n), np.inf)

    def count(i: int) -> None:
        """What each union with ``i`` adds to the squared distances from means."""
        shares = weights * weights[i] / (weights + weights[i])
        found = shares * ((places - places[i]) ** 2).sum(axis=1)
        costs[i, left] = costs[left, i] = found[left]
        costs[i, i] = np.inf

    for i in range(n):
        count(i)
    merges = []
    for step in range(n - 1):
        i, j = sorted(divmod(int(costs.argmin()), n))
        merges.append(
            (int(numbers[i]), int(numbers[j]), float((2 * costs[i, j]) ** 0.5))
        )
        total = weights[i] + weights[j]
        places[i] = (weights[i] * places[i] + weights[j] * places[j]) / total
        weights[i], numbers[i], left[j] = total, n + step, False
        costs[j, :] = costs[:, j] = np.inf
        count(i)
    return merges


def merging_coordinates(
    flowed: torch.Tensor,
    encodings: Sequence[Iterable[torch.Tensor]],
    labels: torch.Tensor,
    n_clusters: int,
) -> np.ndarray:
    """Coordinates of the clusters by which they are merged, of shape (k, c).

    Parameters
    ----------
    flowed : tensor of shape (n, q)
        The rows at hand, embedded after a long time.
    encodings : sequence of blocks of rows
        The same rows in each encoding.
    labels : tensor of shape (n,)
    n_clusters : int
    """
    sizes = torch.bincount(labels, minlength=n_clusters).cpu().numpy()
    parts = [_of_unit_width(_means([flowed], labels, n_clusters), sizes)]
    weight = max(len(encodings), 1) ** -0.5  # together as much as the embedding
    for blocks in encodings:
        means = _of_unit_width(_means(blocks, labels, n_clusters), sizes)
        parts.append(weight * means)
    return np.hstack(parts)


def _means(
    blocks: Iterable[torch.Tensor], labels: torch.Tensor, n_clusters: int
) -> np.ndarray:
    """Mean of each cluster, of shape (k, c); zero for one without rows."""
    total, start = np.zeros((n_clusters, 1)), 0
    for block in blocks:
        own = labels[start : start + len(block)].to(block.device)
        start += len(block)
        nothing = torch.zeros(n_clusters, block.shape[1], dtype=torch.float64)
        means = means_by_label(block.double(), own, nothing.to(block.device))
        counts = torch.bincount(own, minlength=n_clusters)[:, None]
        total = total + (means * counts).cpu().numpy()
    sizes = torch.bincount(labels, minlength=n_clusters).cpu().numpy()
    return total / np.maximum(sizes, 1)[:, None]


def _of_unit_width(means: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Centred, and with a mean squared length of one over the rows."""
    centred = means - sizes @ means / sizes.sum()
    width = float(np.sqrt(sizes @ (centred**2).sum(axis=1) / sizes.sum()))
    return centred / width if width > 0 else centred


def is_tree(tree: Tree) -> bool:
    """Whether a linkage puts these pieces together, clusters of the fit whole."""
    linkage = tree.linkage
    if not is_valid_linkage(linkage) or not is_monotonic(linkage):
        return False
    if len(linkage) != tree.n_pieces - 1:
        return False
    owners = tree.owners.numpy()
    merges = _joined(linkage, tree.n_pieces - tree.n_clusters)
    return all(len({*owners[left], *owners[right]}) == 1 for left, right in merges)
