"""Lloyd's k-means with several starts at once.

scikit-learn's is excellent, but lives on the CPU and sums in an order that depends on
the number of threads. This one runs where the points are, as sums over rows, and
gives the same centres for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from scedae._random import generator as named_generator
from scedae._spectral.distances import (
    nearest,
    nearest_of_groups,
    squared_distances,
)
from scedae._threads import share_out

# Numbers of a block of memberships on a GPU.
_BLOCK_NUMBERS = 1 << 25

# Centres that a CPU compares points with in one go: starts with few centres are run
# together, which takes half of the time of one after the other.
_CENTRES_AT_ONCE = 50

# Starts are compared on at most this many points.
_SAMPLE_POINTS = 20_000

# Beyond so many columns starts are drawn by distances in a random projection to so
# many, which are right to a tenth: many clusters have many columns, too, and what
# decides between far rows need not be exact.
_COLUMNS_OF_STARTS = 96

# Of many clusters there are fewer starts, such that starts times clusters stay below
# this: each places so many centres that it is an average of luck by itself. But at
# least so many.
_CENTRES_STARTED, _FEWEST_STARTS = 600, 3

# Points may come in blocks, as often as they are asked for.
Blocks = Callable[[], Iterable[torch.Tensor]]


@dataclass(frozen=True)
class KMeansResult:
    """Centres of the best start, and the sum of squared distances to them."""

    centers: torch.Tensor  # (k, d)
    inertia: float


def plus_plus_rows(
    points: torch.Tensor, n_centers: int, generator: torch.Generator
) -> torch.Tensor:
    """Greedy k-means++: each centre is the best of a few far rows drawn at random."""
    n_trials = 2 + n_centers.bit_length()
    first = int(torch.randint(len(points), (), generator=generator))
    chosen = [first]
    distances_of = _distances_between_rows(points)
    closest = distances_of(torch.tensor([first]))[0]
    for _ in range(1, n_centers):
        cumulated = closest.cumsum(0)
        draws = torch.rand(n_trials, generator=generator, dtype=torch.float64)
        thresholds = draws.to(cumulated) * cumulated[-1]
        trials = torch.searchsorted(cumulated, thresholds).clamp(max=len(points) - 1)
        reduced = torch.minimum(distances_of(trials), closest)  # (trials, n)
        best = int(reduced.sum(1).argmin())
        chosen.append(int(trials[best]))
        closest = reduced[best]
    return points[chosen].clone()


def _distances_between_rows(
    points: torch.Tensor,
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Squared distances (t, n) of t rows, by number, to all rows.

    By the expanded square: a product is several times faster than differences. It is
    taken about a row, since far from the origin distances would drown in rounding. What
    is left of equal rows by rounding counts as zero. Only starts depend on it, so it
    need not be a product of ``_numerics``.
    """
    points = _projected(points - points[0])
    squares = points.square().sum(1)
    rounding = 16 * torch.finfo(points.dtype).eps * float(squares.max())

    def distances(rows: torch.Tensor) -> torch.Tensor:
        found = torch.addmm(squares, points[rows], points.T, alpha=-2)
        found += squares[rows, None]
        return torch.nn.functional.threshold(found, rounding, 0.0, inplace=True)

    return distances


def _projected(points: torch.Tensor) -> torch.Tensor:
    """Points whose distances are about the same, in few columns."""
    n_columns = points.shape[1]
    if n_columns <= _COLUMNS_OF_STARTS:
        return points
    draw = named_generator(0, "projection")
    shape = (n_columns, _COLUMNS_OF_STARTS)
    matrix = torch.randn(shape, generator=draw, dtype=points.dtype)
    matrix *= _COLUMNS_OF_STARTS**-0.5
    return points @ matrix.to(points.device)


def lloyd(
    blocks: Blocks, centers: torch.Tensor, n_iter: int, n_groups: int = 1
) -> torch.Tensor:
    """At most ``n_iter`` rounds of assignment and means, until no centre moves.

    Groups of centres, one below the other, know nothing of each other.
    """
    for _ in range(n_iter):
        means = _cluster_means(blocks(), centers, n_groups)
        if torch.equal(means, centers):
            break
        centers = means
    return centers


def _cluster_means(
    blocks: Iterable[torch.Tensor], centers: torch.Tensor, n_groups: int
) -> torch.Tensor:
    """Mean of the points nearest to each centre; without points it stays."""
    total = torch.zeros(centers.shape, dtype=torch.float64, device=centers.device)
    count = torch.zeros(len(centers), 1, dtype=torch.long, device=centers.device)
    for block in blocks:
        labels = nearest_of_groups(block, centers, n_groups)
        total += _sums_by_label(block.double(), labels, len(centers))
        count[:, 0] += torch.bincount(labels.flatten(), minlength=len(centers))
    return _means(total, count, centers)


def means_by_label(
    points: torch.Tensor, labels: torch.Tensor, centers: torch.Tensor
) -> torch.Tensor:
    """Mean of the points of each label, (k, d); a centre without points stays."""
    total = _sums_by_label(points.double(), labels[:, None], len(centers))
    count = torch.bincount(labels, minlength=len(centers))[:, None]
    return _means(total, count, centers)


def _means(
    total: torch.Tensor, count: torch.Tensor, centers: torch.Tensor
) -> torch.Tensor:
    means = (total / count.clamp(min=1)).to(centers.dtype)
    return torch.where(count > 0, means, centers)


def _sums_by_label(
    points: torch.Tensor, labels: torch.Tensor, n_labels: int
) -> torch.Tensor:
    """Sum of the points of each label, (n_labels, d); the same in every run.

    A point may have several labels, (n, g).
    """
    if points.device.type != "cpu":
        return _sums_by_product(points, labels, n_labels)
    total = points.new_zeros(n_labels, points.shape[1])
    for each in labels.T:
        total.index_add_(0, each, points)
    return total


def _sums_by_product(
    points: torch.Tensor, labels: torch.Tensor, n_labels: int
) -> torch.Tensor:
    """The same on a GPU, where index_add_ would take points as threads come."""
    total = points.new_zeros(n_labels, points.shape[1])
    height = max(_BLOCK_NUMBERS // n_labels, 1)
    for part, names in zip(points.split(height), labels.split(height), strict=True):
        member = part.new_zeros(len(part), n_labels).scatter_(1, names, 1.0)
        total += member.T @ part
    return total


def revive_empty(points: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Move each centre without points to the point farthest from its own centre."""
    index = nearest(points, centers)
    counts = torch.bincount(index[:, 0], minlength=len(centers))
    empty = (counts == 0).nonzero()[:, 0].tolist()
    distances = squared_distances(points, centers, index)[:, 0]
    centers = centers.clone()
    for cluster in empty:
        farthest = int(distances.argmax())
        if distances[farthest] <= 0:
            break
        centers[cluster] = points[farthest]
        moved = (points - points[farthest]).square().sum(1)
        distances = torch.minimum(distances, moved.to(distances))
    return centers


def kmeans(
    points: torch.Tensor,
    n_clusters: int,
    generator: torch.Generator,
    *,
    n_starts: int = 10,
    n_iter: int = 100,
    n_iter_start: int | None = None,
) -> KMeansResult:
    """The best of ``n_starts`` runs from k-means++ starts.

    Of many points, starts are compared on a sample, and the best goes on with all.
    With ``n_iter_start`` they are compared after so many rounds, long before they
    end: what separates good starts from bad ones happens in the first few. Many
    clusters have fewer starts.
    """
    fewer = max(_CENTRES_STARTED // n_clusters, _FEWEST_STARTS)
    n_starts = min(n_starts, fewer)
    sample = points
    if len(points) > _SAMPLE_POINTS:
        drawn = torch.randperm(len(points), generator=generator)[:_SAMPLE_POINTS]
        sample = points[drawn.to(points.device)]
    starts = [plus_plus_rows(sample, n_clusters, generator) for _ in range(n_starts)]

    def run(group: Sequence[torch.Tensor]) -> list[KMeansResult]:
        return _from_all(sample, group, n_iter_start or n_iter)

    at_once = max(_CENTRES_AT_ONCE // n_clusters, 1) if points.is_cpu else n_starts
    groups = [starts[i : i + at_once] for i in range(0, n_starts, at_once)]
    ends = [end for found in share_out(run, groups) for end in found]
    best = ends[0]
    for found in ends[1:]:
        # Two starts often end in one solution, equal up to rounding: the first stays,
        # or rounding would decide how the clusters are numbered.
        if found.inertia < best.inertia * (1 - 1e-9):
            best = found
    if sample is points and n_iter_start is None:
        return best
    return kmeans_from(points, best.centers, n_iter)


def kmeans_from(points: torch.Tensor, start: torch.Tensor, n_iter: int) -> KMeansResult:
    """Lloyd's rounds from one start, with no centre left without points."""

    def blocks() -> list[torch.Tensor]:
        return [points]

    centers = lloyd(blocks, start, n_iter)
    revived = revive_empty(points, centers)
    if not torch.equal(revived, centers):
        centers = lloyd(blocks, revived, n_iter)
    distances = squared_distances(points, centers, nearest(points, centers))
    # Summed by numpy, in one thread: torch would sum by the number of threads.
    return KMeansResult(centers, float(distances.cpu().numpy().sum()))


def _from_all(
    points: torch.Tensor, starts: Sequence[torch.Tensor], n_iter: int
) -> list[KMeansResult]:
    """``kmeans_from`` every start, all at once.

    A GPU takes a round of thirty starts in the time of one.
    """
    n_groups, centers = len(starts), torch.cat(list(starts))
    centers = lloyd(lambda: [points], centers, n_iter, n_groups)
    labels = nearest_of_groups(points, centers, n_groups)
    counts = torch.bincount(labels.flatten(), minlength=len(centers))
    has_empty = (counts == 0).view(n_groups, -1).any(1).tolist()
    squared = squared_distances(points, centers, labels).cpu().numpy()
    return [
        kmeans_from(points, own, n_iter) if empty else KMeansResult(own, float(sum_))
        for own, empty, sum_ in zip(
            centers.chunk(n_groups), has_empty, squared.sum(0), strict=True
        )
    ]
