"""anchor: every member among its landmarks, by the graph that the judge prefers.

How coarse a graph should be, no fixed number tells: half of the rows as landmarks suit
handwritten digits, fall into crumbs where rows lie near something flat, and hide types
of which there are a handful of rows. So a few graphs are tried on the same encodings,
from half of the rows to few; then with every row a landmark, where that can be of use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from scedae import _spectral as spectral
from scedae._defaults import Refining, Scale
from scedae._encoded import CodeRows, EncodedEnsemble, EncodedMember
from scedae._fusion import Anchored
from scedae._model import FittedMember
from scedae._random import generator
from scedae._rows import ScaledRows
from scedae._threads import n_threads, share_out

# Encodings that the judge ties rows by; more say the same.
_JUDGE_CODES = 3
# A later graph is taken for a score below this part of the earlier one's. What differs
# less, other rows or landmarks would turn around, and a fine graph loses the least.
_CLEARLY_LESS = 0.97
# A gap of the spectrum is believed where at most this share of a cluster's ties leads
# out of the clusters before it, for a score below this part of that without it. Where
# clusters touch, a longer time of diffusion cuts fewer ties and takes classes apart.
# Few starts of k-means find what is so clear, and where far more ties lead out before,
# nobody need look.
_CLEARLY_CUT, _FAR_LESS, _STARTS_AT_A_GAP = 0.03, 0.8, 3
_NEVER_CLEARLY_CUT = 0.1
# Every row is a landmark only where the first graph holds together, that is, where the
# last of its singular values is below this. Others fall into crumbs already, and finer
# ones would into more, at the cost of an eigensolver that cannot tell them apart. Of
# few rows they cost next to nothing.
_HOLDS_TOGETHER = 0.95
# And where landmarks were planned for no more rows each than this: beyond, so many of
# them cost more than they bring, and in a plane they are crumbs.
_ROWS_OF_A_LANDMARK = 2
# Parts of counting: to anchor, to ask halves for their vectors, and to weigh a number.
_ANCHORED, _ASKED, _WEIGHED = 0.3, 0.3, 0.05


@dataclass(frozen=True)
class Trial:
    """How closely a graph is looked at."""

    rows: int = spectral.MOST_JUDGED  # that the judge sees
    starts: int = 10  # of k-means for what it sees, which need not be the last word

    @property
    def is_thorough(self) -> bool:
        """Whether the answer would have no more starts."""
        return self.starts >= spectral.STARTS


_USUAL = Trial()
# Where rows are landmarks of each other, among fewer of them near ones are no longer
# near. And as many starts as the answer will have, before networks are done without:
# pen digits have two answers, and few starts happened to show the better one.
CLOSE_LOOK = Trial(rows=20_000, starts=spectral.STARTS)


@dataclass(frozen=True)
class Tail:
    """How the verbs after ``encode`` go about it.

    The landmarks' method and the three after it have one value in every estimator.
    Experiments, which repeat what was published, vary them: see ``internal``.
    """

    scales: tuple[Scale, ...]  # of graphs to try, the finest first
    embedding: str
    landmark_method: str = "kmeans"
    bandwidth_factor: float = 1.0  # times the mean distance to the nearest landmarks
    whitened: bool = True  # rows go to the nearest centre by the clusters' own metric
    split_halves: bool = True  # stability, by halves of the ensemble
    keeps_views: bool = False  # also those that the answer would be clearer without
    refining: Refining | None = None  # None: nothing has the last word but the graph

    @property
    def rounded(self) -> bool:
        """Whether clusters get a metric of their own; LSC stays as published."""
        return self.whitened and self.embedding == "diffusion"


@dataclass(frozen=True)
class GraphChoice:
    """The graph that the judge prefers, and what it said of all that were tried."""

    anchored: Anchored
    said: tuple[spectral.GraphCandidate, ...]
    opinions: tuple[np.ndarray, ...] = ()  # labels of the judge's rows, by each graph
    # What its diffusion leaves of the last vector that so many clusters need.
    kept: float = spectral.KEPT_OF_LAST_VECTOR
    # Of k-means by the graph that is preferred, where nothing better will be found.
    centers: torch.Tensor | None = None

    @property
    def agreement(self) -> float:
        """How much the graphs agree on the clusters, in [0, 1]."""
        return spectral.agreement_beyond_chance(self.opinions)

    @property
    def labels(self) -> np.ndarray:
        """Of the judge's rows, by the graph that is preferred; none, if it is alone."""
        chosen = [each.chosen for each in self.said].index(True)
        return self.opinions[chosen] if self.opinions else np.empty(0, dtype=int)

    @property
    def best(self) -> spectral.GraphCandidate:
        """What was said of the graph that is preferred."""
        return next(each for each in self.said if each.chosen)


@dataclass(frozen=True)
class _Look:
    """Clusters of the judge's rows by one graph, and the verdict on them."""

    partition: spectral.Partition
    labels: np.ndarray  # of the partition, on the host
    verdict: spectral.Verdict
    kept: float


class Anchoring:
    """Anchors the members of one ensemble, as often as graphs are tried.

    Landmarks that two graphs share are chosen once.
    """

    def __init__(
        self,
        encoded: EncodedEnsemble,
        tail: Tail,
        seed: int,
        tick: Callable[[float, str], None],
        trial: Trial = _USUAL,
    ) -> None:
        self._all, self._members, self.tail = encoded, encoded.members, tail
        self.seed, self._tick, self._try = seed, tick, trial
        self._landmarks: dict[tuple[int, int], torch.Tensor] = {}
        self._found: dict[tuple[int, float], tuple[torch.Tensor, spectral.Neighbors]]
        self._found = {}
        self._near: dict[int, spectral.NearRows] = {}  # by the encoding
        self._chosen: dict[int, GraphChoice] = {}

    def of_some(self, members: list[EncodedMember]) -> Anchoring:
        """Some of the members by themselves, with the landmarks they have already."""
        encoded = EncodedEnsemble(members, (), self._all.rows)
        found = Anchoring(encoded, self.tail, self.seed, lambda share, words: None)
        found._landmarks, found._found = self._landmarks, self._found
        found._near = self._near
        return found

    def count(self, numbers: range) -> tuple[spectral.Candidate, ...]:
        """Evidence for each number of clusters, the best first.

        By two graphs that are neither the finest nor the coarsest: in the finest,
        crumbs look like clusters, and what only one graph sees is no evidence.
        """
        most = numbers[-1]
        scales = [s for s in self._distinct_scales(most) if not s.of_rows][:3][-2:]
        panels = []
        for i, scale in enumerate(scales):
            words = _which(i, scales)
            share = _ANCHORED / len(scales)
            panels.append(
                self._panel(self.at(scale, most, share=share, words=words), most)
            )
            self._tick(_ASKED / len(scales), words)
        weighed = spectral.weigh_numbers(panels, numbers)
        found = []
        for candidate in weighed:
            found.append(candidate)
            self._tick(_WEIGHED, f"{candidate.n_clusters} clusters")
        return spectral.best_of_each(found)

    def _panel(self, anchored: Anchored, most: int) -> spectral.Panel:
        fusion, basis = anchored.fusion, self._basis(anchored, most)
        return fusion.panel(basis, self.tail.embedding, self.seed)

    def choose(self, n_clusters: int) -> GraphChoice:
        """The members by the graph that the judge prefers, and what it said of all."""
        if n_clusters not in self._chosen:
            self._chosen[n_clusters] = self._choice(n_clusters)
        return self._chosen[n_clusters]

    def _choice(self, n_clusters: int) -> GraphChoice:
        scales = self._distinct_scales(n_clusters)
        if len(scales) == 1:
            only = self.at(scales[0], n_clusters, share=1.0)
            return GraphChoice(only, (_said(only, None, chosen=True),))
        best: Anchored | None = None  # one graph is kept at a time: they are large
        look: _Look | None = None
        said: list[spectral.GraphCandidate] = []
        opinions: list[np.ndarray] = []
        lowest, chosen = math.inf, 0
        # Whether every row as a landmark can be of use.
        few = self._members[0].encoding.n_rows <= spectral.DENSE_LIMIT
        finer = self._rows_alone or few
        looked = self._side_by_side(scales, n_clusters)
        for i, scale in enumerate(scales):
            if scale.of_rows and not finer:
                self._tick(1 / len(scales), _which(i, scales))
                continue
            if looked:
                tried, own = looked[i]
            else:
                tried = self._graph(i, scales, n_clusters)
                own = self._look(tried, n_clusters)
            score = own.verdict.score
            said.append(_said(tried, own, chosen=False))
            opinions.append(own.labels)
            if best is None:
                finer |= self._basis(tried, n_clusters).holds_together(_HOLDS_TOGETHER)
            if best is None or score < _CLEARLY_LESS * lowest:
                best, look, lowest, chosen = tried, own, score, len(said) - 1
        assert best is not None
        assert look is not None
        said[chosen] = replace(said[chosen], chosen=True)
        centers = look.partition.kmeans_centers if self._try.is_thorough else None
        return GraphChoice(best, tuple(said), tuple(opinions), look.kept, centers)

    def _side_by_side(
        self, scales: list[Scale], n_clusters: int
    ) -> list[tuple[Anchored, _Look]]:
        """All graphs and looks at once, where threads are no more than graphs.

        Much of an eigenproblem is serial. Where rows alone are looked at, graphs are
        few and sure to be tried, and small enough to be kept together.
        """
        on_cpu = self._members[0].encoding.device.type == "cpu"
        if not (on_cpu and self._rows_alone and 1 < n_threads() <= len(scales)):
            return []
        graphs = [self._graph(i, scales, n_clusters) for i in range(len(scales))]
        _ = self.judge  # is there before two of them ask for it
        looks = share_out(lambda graph: self._look(graph, n_clusters), graphs)
        return list(zip(graphs, looks, strict=True))

    def _graph(self, i: int, scales: list[Scale], n_clusters: int) -> Anchored:
        share, words = 1 / len(scales), _which(i, scales)
        return self.at(scales[i], n_clusters, share=share, words=words)

    @property
    def _rows_alone(self) -> bool:
        """Whether every graph has rows for landmarks: there is no coarser one."""
        return all(scale.of_rows for scale in self.tail.scales)

    def at(
        self, scale: Scale, n_clusters: int, *, share: float, words: str = ""
    ) -> Anchored:
        """Every member among so many landmarks, with so many neighbours a row."""

        def anchored(member: EncodedMember) -> tuple[FittedMember, spectral.Affinity]:
            found = self._anchor(member, scale, n_clusters)
            self._tick(share / len(self._members), words)
            return found

        if scale.of_rows:
            for member in self._members:  # most of this is for all who share the rows
                self._near_rows(member)
        if self._members[0].encoding.device.type == "cpu":
            pairs = share_out(anchored, self._members)
        else:
            pairs = [anchored(member) for member in self._members]
        members, affinities = zip(*pairs, strict=True)
        return Anchored(list(members), list(affinities), scale.n_neighbors)

    def _distinct_scales(self, n_clusters: int) -> list[Scale]:
        """Scales that differ for these members: few rows have few landmarks."""
        dense = all(
            member.encoding.n_rows // _ROWS_OF_A_LANDMARK <= member.spec.n_landmarks
            for member in self._members
        )
        found: dict[object, Scale] = {}
        for scale in self.tail.scales:
            if dense or not scale.of_rows or self._rows_alone:
                counts = [self._count(m, scale, n_clusters) for m in self._members]
                found.setdefault((*counts, scale.n_neighbors), scale)
        return list(found.values())

    def _count(self, member: EncodedMember, scale: Scale, n_clusters: int) -> int:
        if scale.of_rows:
            return round(scale.of_rows * member.encoding.n_rows)
        wanted = scale.landmarks_of(member.spec.n_landmarks, n_clusters)
        return min(wanted, member.encoding.n_rows)

    def _anchor(
        self, member: EncodedMember, scale: Scale, n_clusters: int
    ) -> tuple[FittedMember, spectral.Affinity]:
        """Landmarks, bandwidth and column sums of one member, and its affinity."""
        count, cells = self._count(member, scale, n_clusters), None
        if scale.of_rows:
            landmarks, neighbors = self._some_rows(member, scale.of_rows)
            cells = self._near_rows(member).centers
        else:
            landmarks = self._landmarks_of(member, count)
            neighbors = _near(member.encoding.blocks(), landmarks, scale.n_neighbors)
        neighbors = neighbors.first(scale.n_neighbors)
        bandwidth = self.tail.bandwidth_factor * spectral.mean_distance(neighbors)
        affinity = spectral.landmark_affinity(neighbors, bandwidth, len(landmarks))
        column_scale = spectral.inverse_root(affinity.column_sums())
        fitted = FittedMember(
            replace(member.spec, n_landmarks=count),
            member.encoder,
            landmarks,
            bandwidth,
            column_scale,
            votes=column_scale.new_zeros(len(landmarks), 0),  # no clusters yet
            usual=spectral.usual_distances(
                # A row is as far from the others as a new row would be.
                neighbors.without_nearest() if scale.of_rows else neighbors,
                len(landmarks),
            ),
            columns=member.columns,
            cells=cells,
        )
        return fitted, affinity

    def _some_rows(
        self, member: EncodedMember, part: float
    ) -> tuple[torch.Tensor, spectral.Neighbors]:
        """Rows that are landmarks, and the nearest of them, for all graphs of such."""
        key = member.number, part
        if key not in self._found:
            most = max(s.n_neighbors for s in self.tail.scales if s.of_rows == part)
            near, draws = self._near_rows(member), self._draws(member)
            self._found[key] = near.some(part, most, draws)
        return self._found[key]

    def _near_rows(self, member: EncodedMember) -> spectral.NearRows:
        key = id(member.encoding)
        if key not in self._near:
            most = max(s.n_neighbors for s in self.tail.scales if s.of_rows)
            self._near[key] = spectral.NearRows(member.encoding, most)
        return self._near[key]

    def _landmarks_of(self, member: EncodedMember, count: int) -> torch.Tensor:
        key = member.number, count
        if key not in self._landmarks:
            self._landmarks[key] = spectral.choose_landmarks(
                member.encoding,
                count,
                self.tail.landmark_method,
                self._draws(member),
            )
        return self._landmarks[key]

    def _draws(self, member: EncodedMember) -> torch.Generator:
        return generator(self.seed, "landmarks", member.number)

    @cached_property
    def judge(self) -> spectral.Judge:
        """Ties rows by some codes, and by the rows if a member has them.

        Members that share an encoding count once; every view is heard.
        """
        distinct = {id(m.encoding): m for m in self._members}.values()
        found: list[ScaledRows | CodeRows] = []
        for view in dict.fromkeys(member.spec.view for member in distinct):
            own = [member for member in distinct if member.spec.view == view]
            codes = [m.encoding for m in own if m.encoder is not None]
            found += codes[:_JUDGE_CODES]
            found += [m.encoding for m in own if m.encoder is None]
        return spectral.Judge(found, generator(self.seed, "judge"), self._try.rows)

    def _basis(self, anchored: Anchored, n_clusters: int) -> spectral.Basis:
        n_vectors = spectral.n_vectors(self.tail.embedding, n_clusters)
        return anchored.fusion.basis(n_vectors)

    def _look(self, anchored: Anchored, n_clusters: int) -> _Look:
        """What one graph finds; after a longer time, if that is far better."""
        kept, starts = spectral.KEPT_OF_LAST_VECTOR, self._try.starts
        usual = self._look_after(anchored, n_clusters, kept, starts)
        touch = usual.verdict.cut > _NEVER_CLEARLY_CUT
        if touch or self._rows_alone or self.tail.embedding == "lsc":
            return usual
        kept, starts = spectral.KEPT_AT_A_GAP, _STARTS_AT_A_GAP
        later = self._look_after(anchored, n_clusters, kept, starts)
        clear = later.verdict.cut <= _CLEARLY_CUT
        far_less = later.verdict.score < _FAR_LESS * usual.verdict.score
        return later if clear and far_less else usual

    def _look_after(
        self, anchored: Anchored, n_clusters: int, kept: float, n_starts: int
    ) -> _Look:
        fusion, basis = anchored.fusion, self._basis(anchored, n_clusters)
        time = spectral.embedding_time(basis, self.tail.embedding, n_clusters, kept)
        partition = spectral.partition_rows(
            fusion.points(basis, time, self.judge.rows),
            n_clusters,
            self.seed,
            rounded=self.tail.rounded,
            n_starts=n_starts,
        )
        labels = partition.labels.cpu().numpy()
        return _Look(partition, labels, self.judge.weigh(labels, n_clusters), kept)


def _which(i: int, scales: Sequence[Scale]) -> str:
    return f"graph {i + 1} of {len(scales)}"


def _near(
    blocks: Iterable[torch.Tensor], landmarks: torch.Tensor, n_neighbors: int
) -> spectral.Neighbors:
    """The nearest landmarks of all rows."""
    search, most = spectral.Search(landmarks), min(n_neighbors, len(landmarks))
    found = [spectral.nearest_landmarks(block, search, most) for block in blocks]
    return spectral.Neighbors(
        torch.cat([part.columns for part in found]),
        torch.cat([part.squared for part in found]),
    )


def _said(
    anchored: Anchored, look: _Look | None, *, chosen: bool
) -> spectral.GraphCandidate:
    verdict = None if look is None else look.verdict
    return spectral.GraphCandidate(
        anchored.n_landmarks,
        anchored.n_neighbors,
        cut=None if verdict is None else verdict.cut,
        largest=None if verdict is None else verdict.largest,
        score=None if verdict is None else verdict.score,
        chosen=chosen,
        longer=look is not None and look.kept < spectral.KEPT_OF_LAST_VECTOR,
    )
