"""What a fit has learnt: enough to place and judge rows never seen before.

``coordinates`` walks the same road for any rows: that is why the training rows get the
same labels from ``predict`` as from ``fit``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from scedae import _spectral as spectral
from scedae._autoencoder import Encoder, encode
from scedae._members import MemberSpec
from scedae._numerics import times
from scedae._rows import AnyScaler, Result, ViewScaler


@dataclass(frozen=True)
class MemberReport:
    """How one member fared: its loss after each epoch, and whether it collapsed.

    ``left_out`` says that it sees a view that the answer is better without.

    Examples
    --------
    >>> from scedae import SCEDAE
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> model = SCEDAE(4, n_members=2, n_row_members=0, epochs=5, random_state=0).fit(X)
    >>> report = model.members_[0]
    >>> report.spec.hidden_layers, len(report.history), report.collapsed
    ((48, 72, 96), 5, False)
    >>> report.loss == report.history[-1]["loss"]
    True
    """

    spec: MemberSpec
    history: tuple[dict[str, float], ...]
    collapsed: bool
    left_out: bool = False

    @property
    def took_part(self) -> bool:
        """Whether the answer rests on it."""
        return not (self.collapsed or self.left_out)

    @property
    def loss(self) -> float:
        """Loss of the last epoch; not a number for a member on the rows."""
        return self.history[-1]["loss"] if self.history else float("nan")


@dataclass(frozen=True)
class FittedView:
    """One of several matrices of the same rows, and what it gives to the answer.

    Attributes
    ----------
    name : str
    n_features_in : int
        Columns of the view.
    feature_names_in : tuple of str or None
        Their names, where it was a DataFrame.
    trained : bool
        Whether networks were trained on it; encodings made elsewhere need none.
    left_out : bool
        Whether the answer is clearer without it, so that it does not rest on it.
    n_members : int
        Members that see this view alone and took part.
    agreement : float
        Mean of what they give to the ensemble's labels; not a number without members.

    Examples
    --------
    >>> from scedae import SCEDAE
    >>> from scedae.datasets import lift, make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> views = {"places": X, "lifted": lift(X, random_state=0)}
    >>> model = SCEDAE(4, effort="fast", epochs=5, random_state=0).fit(views)
    >>> [(each.name, each.n_features_in) for each in model.views_.values()]
    [('places', 3), ('lifted', 100)]
    """

    name: str
    n_features_in: int
    feature_names_in: tuple[str, ...] | None = None
    trained: bool = True
    left_out: bool = False
    n_members: int = 0
    agreement: float = float("nan")


# What may come of a refinement, in words.
VERDICTS = {
    "kept": "the judge finds the refined clusters about as well cut off as before",
    "worse": "the judge finds the refined clusters worse cut off from each other",
    "overruled": "it would move more than the tenth of the rows that was left to it",
    "empty": "a cluster would have lost all its rows",
    "diverged": "the training of the network diverged",
    "single": "all rows are in one cluster",
}


@dataclass(frozen=True)
class Refinement:
    """What the last step did to the clusters.

    Attributes
    ----------
    verdict : {"kept", "worse", "overruled", "empty", "diverged", "single"}
        Whether the labels are the refined ones, or why not.
    moved : float
        Share of the rows (of a sample, if they did not lie in memory) that the network
        puts into another cluster.
    flows : tuple of (from, to, rows)
        How many rows it moves from which cluster to which, most first.
    score_before, score_after : float or None
        What the judge says of the clusters, the smaller the better.

    Examples
    --------
    >>> from scedae import Refinement
    >>> done = Refinement("kept", moved=0.02, flows=((3, 8, 25), (8, 3, 11)))
    >>> done.kept, done.flows[0]
    (True, (3, 8, 25))
    >>> Refinement("empty").reason
    'a cluster would have lost all its rows'
    """

    verdict: str
    moved: float = 0.0
    flows: tuple[tuple[int, int, int], ...] = ()
    score_before: float | None = None
    score_after: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the labels are the refined ones."""
        return self.verdict == "kept"

    @property
    def reason(self) -> str:
        """The verdict in words."""
        return VERDICTS[self.verdict]


def seen_columns(rows: torch.Tensor, columns: slice | None) -> torch.Tensor:
    """The columns of scaled rows that a member sees; None: all of them."""
    return rows if columns is None else rows[:, columns].contiguous()


# What the distance of a row itself counts in its novelty, where that of a code is one:
# a code keeps what tells the rows of the fit apart, and may drop what is new.
_WEIGHT_OF_ROWS = 5


@dataclass(frozen=True)
class FittedMember:
    """What one member needs to place a new row among its landmarks."""

    spec: MemberSpec
    encoder: Encoder | None  # None: the member works on the rows themselves
    landmarks: torch.Tensor  # (p, e)
    bandwidth: float
    column_scale: torch.Tensor  # (p,) Σ^(-1/2), float64
    votes: torch.Tensor  # (p, k) share of each cluster near each landmark, float64
    # (p,) how far rows near each landmark lie; files of older versions do not tell.
    usual: torch.Tensor | None = None
    columns: slice | None = None  # of scaled rows, that it sees; None: all of them
    # (c, e) centres by which landmarks are searched; None: they follow from these.
    cells: torch.Tensor | None = None

    def encode(self, rows: torch.Tensor) -> torch.Tensor:
        rows = seen_columns(rows, self.columns)
        return rows if self.encoder is None else encode(self.encoder, rows)

    def affinity(self, rows: torch.Tensor, n_neighbors: int) -> spectral.Affinity:
        """Z of scaled rows, of shape (n, p): encode, anchor."""
        neighbors = self._neighbors(rows, n_neighbors)
        return spectral.landmark_affinity(
            neighbors, self.bandwidth, len(self.landmarks)
        )

    def novelty(self, rows: torch.Tensor, n_neighbors: int) -> torch.Tensor:
        """How far scaled rows lie from all landmarks, over what is usual, (n,)."""
        assert self.usual is not None, "whoever asks has looked"
        return spectral.distance_ratio(self._neighbors(rows, n_neighbors), self.usual)

    def _neighbors(self, rows: torch.Tensor, n_neighbors: int) -> spectral.Neighbors:
        return spectral.nearest_landmarks(
            self.encode(rows), self._search, min(n_neighbors, len(self.landmarks))
        )

    @cached_property
    def _search(self) -> spectral.Search:
        return spectral.Search(self.landmarks, self.cells)

    def to(self, device: torch.device) -> FittedMember:
        if self.landmarks.device == device:
            return self  # with the cells that were made of its landmarks
        return replace(
            self,
            encoder=self.encoder and self.encoder.to(device),
            landmarks=self.landmarks.to(device),
            column_scale=self.column_scale.to(device),
            votes=self.votes.to(device),
            usual=None if self.usual is None else self.usual.to(device),
            cells=None if self.cells is None else self.cells.to(device),
        )


@dataclass(frozen=True)
class Assignment:
    """The clusters of some rows, and how sure they are."""

    labels: torch.Tensor  # (n,)
    votes: torch.Tensor  # (m, n) what each member gives to the label
    confidence: torch.Tensor  # (n,)


@dataclass(frozen=True)
class FittedPipeline:
    """Everything the five verbs learnt; enough to treat rows never seen before.

    Examples
    --------
    >>> from scedae import LandmarkSpectralClustering
    >>> from scedae.datasets import make_lsun
    >>> X, y = make_lsun(300, random_state=0)
    >>> model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    >>> pipeline = model.pipeline_
    >>> pipeline.members[0].landmarks.shape[1], pipeline.n_neighbors
    (2, 5)
    >>> pipeline.centers.shape
    torch.Size([3, 3])
    """

    scaler: AnyScaler
    members: tuple[FittedMember, ...]
    n_neighbors: int
    embedding: str
    time: float  # of diffusion; 0 for LSC
    basis: spectral.Basis  # (Σp, q)
    metric: torch.Tensor  # (q, q) makes clusters round; identity for LSC, float64
    centers: torch.Tensor  # (k, q) in that metric, float64
    student: Encoder | None = None  # has the last word on labels, if it was kept
    # What confidence is worth; files of older versions do not tell.
    calibration: spectral.Calibration | None = None
    # (501,) confidence below which 0, 0.001, … 0.5 of the training rows lie; likewise.
    doubt: torch.Tensor | None = None
    # Finer and coarser clusters; likewise, and none where there is one piece only.
    tree: spectral.Tree | None = None

    def affinity(self, rows: torch.Tensor) -> spectral.FusedAffinity:
        """Z̄ of scaled rows, of shape (n, Σp): encode, anchor, fuse."""
        affinities = [m.affinity(rows, self.n_neighbors) for m in self.members]
        return spectral.fuse(affinities, [m.column_scale for m in self.members])

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """Embedding of scaled rows, of shape (n, q)."""
        return self._embed(self.affinity(rows))

    def labels(self, rows: torch.Tensor) -> torch.Tensor:
        """Clusters of scaled rows, of shape (n,)."""
        if self.student is not None:
            return encode(self.student, rows).argmax(1)
        return spectral.nearest(self.coordinates(rows), self.centers)[:, 0]

    def assign(self, rows: torch.Tensor) -> Assignment:
        """Clusters and confidence of scaled rows."""
        affinity = self.affinity(rows)
        answers = None if self.student is None else encode(self.student, rows)
        return self.assign_embedded(affinity, self._embed(affinity), answers)

    def assign_embedded(
        self,
        affinity: spectral.FusedAffinity,
        points: torch.Tensor,
        answers: torch.Tensor | None = None,
    ) -> Assignment:
        """The same for rows whose Z̄, coordinates and answers are known."""
        if answers is None:
            labels = spectral.nearest(points, self.centers)[:, 0]
        else:
            labels = answers.argmax(1)
        margin = spectral.margin(points, self.centers, labels)
        if answers is not None:
            # A row that either of them would put elsewhere is in doubt.
            margin = spectral.combine(margin, spectral.margin_of_answers(answers))
        parts = spectral.unfuse(affinity, [m.column_scale for m in self.members])
        votes = torch.stack(
            [
                spectral.vote(part, member.votes, labels)
                for part, member in zip(parts, self.members, strict=True)
            ]
        )
        return Assignment(
            labels, votes, spectral.combine(margin, mean_of_members(votes))
        )

    def probabilities(self, rows: torch.Tensor) -> torch.Tensor:
        """Chances of all clusters for scaled rows, of shape (n, k)."""
        affinity = self.affinity(rows)
        answers = None if self.student is None else encode(self.student, rows)
        found = self.assign_embedded(affinity, self._embed(affinity), answers)
        return self.probabilities_assigned(affinity, found, answers)

    def probabilities_assigned(
        self,
        affinity: spectral.FusedAffinity,
        assignment: Assignment,
        answers: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The same for rows whose clusters are known."""
        assert self.calibration is not None, "whoever asks has looked"
        parts = spectral.unfuse(affinity, [m.column_scale for m in self.members])
        tables = [member.votes for member in self.members]
        shares = mean_of_members(map(spectral.Affinity.times, parts, tables))
        if answers is not None:
            shares = (shares + torch.softmax(answers.double(), dim=1)) / 2
        chance = self.calibration(assignment.confidence)
        return spectral.probabilities(assignment.labels, chance, shares)

    def pieces(self, rows: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The pieces of their clusters that scaled rows belong to, (n,)."""
        assert self.tree is not None, "whoever asks has looked"
        points = spectral.embed(self.affinity(rows), self._splitting.to(rows.device))
        return self.tree.pieces(points, labels)

    def novelty(self, rows: torch.Tensor) -> torch.Tensor:
        """How unlike all training rows scaled rows are, (n,); 1 is usual."""
        total, weights = torch.zeros(len(rows), dtype=torch.float64), 0
        total = total.to(rows.device)
        for member in self.members:
            weight = _WEIGHT_OF_ROWS if member.encoder is None else 1
            total += weight * member.novelty(rows, self.n_neighbors)
            weights += weight
        return total / weights

    def _embed(self, affinity: spectral.FusedAffinity) -> torch.Tensor:
        points = spectral.embed(affinity, self._projection.to(affinity.device))
        return times(points, self.metric)

    @cached_property
    def _projection(self) -> torch.Tensor:
        """What takes a row of Z̄ to its coordinates, of shape (Σp, q)."""
        return torch.from_numpy(spectral.embedding_matrix(self.basis, self.time))

    @cached_property
    def _splitting(self) -> torch.Tensor:
        """The same to those by which clusters are split into pieces."""
        time = spectral.splitting_time(self.basis.singular_values, self.time)
        return torch.from_numpy(spectral.embedding_matrix(self.basis, time))

    def of_views(self, names: Collection[str]) -> FittedPipeline:
        """What the members of some views say, where nobody has seen the others.

        Their columns of Z̄ meet their part of the basis. Members that see all views
        are silent, and so is a student.
        """
        assert isinstance(self.scaler, ViewScaler)
        scaler = self.scaler.only(names)
        heard = [member.spec.view in scaler.names for member in self.members]
        sizes = [len(member.landmarks) for member in self.members]
        vectors = self.basis.vectors[np.repeat(heard, sizes)]
        members = tuple(
            replace(member, columns=scaler.columns_of(member.spec.view))
            for member, is_heard in zip(self.members, heard, strict=True)
            if is_heard
        )
        return replace(
            self,
            scaler=scaler,
            members=members,
            basis=replace(self.basis, vectors=vectors),
            student=None,
        )

    def to(self, device: torch.device) -> FittedPipeline:
        return replace(
            self,
            scaler=self.scaler.to(device),
            members=tuple(member.to(device) for member in self.members),
            metric=self.metric.to(device),
            centers=self.centers.to(device),
            student=self.student and self.student.to(device),
            calibration=self.calibration and self.calibration.to(device),
            tree=self.tree and self.tree.to(device),
        )


# The label of a row that the model is not sure enough of.
REJECTED = -1

# What ``assign_rows`` says of a row: its label, and how sure it is.
ROW_RESULTS = (Result(np.int64), Result(np.float64))


def assign_rows(
    pipeline: FittedPipeline, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    assignment = pipeline.assign(rows)
    return assignment.labels, assignment.confidence


def answer_rows(
    layer: int | None,
    threshold: float,
    pipeline: FittedPipeline,
    rows: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What ``assign_rows`` says, with the labels of another layer if one is named.

    A row that is less sure than ``threshold`` has no label.
    """
    labels, confidence = assign_rows(pipeline, rows)
    if layer is not None and pipeline.tree is not None:
        names = torch.from_numpy(pipeline.tree.names(layer)).to(labels.device)
        labels = names[pipeline.pieces(rows, labels)]
    return torch.where(confidence < threshold, REJECTED, labels), confidence


def novelty_of(pipeline: FittedPipeline, rows: torch.Tensor) -> tuple[torch.Tensor]:
    return (pipeline.novelty(rows),)


def probabilities_of(
    pipeline: FittedPipeline, rows: torch.Tensor
) -> tuple[torch.Tensor]:
    return (pipeline.probabilities(rows),)


def mean_of_members(votes: Iterable[torch.Tensor]) -> torch.Tensor:
    """Mean of tensors of one shape, member after member.

    In a fixed order: a sum by torch may depend on how many rows stand side by side.
    """
    rest = iter(votes)
    total, count = next(rest).clone(), 1
    for member in rest:
        total += member
        count += 1
    return total / count
