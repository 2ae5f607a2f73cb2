"""Joint clustering: pretrain, place centres, then train network and centres together.

DCN, IDEC and DKM differ in one thing, the term they add to the loss at the codes: an
*objective* with centres. Everything else is here, for one seed or for several that
train as one ensemble.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import torch
from sklearn.base import clone

from scedae._autoencoder import (
    USUAL,
    Batches,
    Encoder,
    Training,
    TrainingRun,
    Variation,
    encode,
    is_collapsed,
    learning_rates,
    on_device,
    rounds,
    start_training,
)
from scedae._constraints import Interval
from scedae._members import MemberSpec
from scedae._model import MemberReport
from scedae._numerics import column_sums, product
from scedae._prepared import Prepared
from scedae._progress import Progress
from scedae._random import child_seed, generator
from scedae._rows import Rows, scaled
from scedae._shell.base import at_work
from scedae._shell.networks import AUTOENCODER_CONSTRAINTS, LONGEST, one_network
from scedae._spectral import kmeans, nearest, revive_empty
from scedae._threads import one_blas_thread
from scedae.baselines._encoder_clusterer import (
    EncoderClusterer,
    EncoderFit,
    FittedEncoder,
)
from scedae.exceptions import CollapsedEnsembleError

# What DCN, IDEC and DKM accept.
_FROM_ONE = Interval(Integral, 1, LONGEST, closed="both")

JOINT_CONSTRAINTS: dict[str, list[Any]] = {
    **{k: v for k, v in AUTOENCODER_CONSTRAINTS.items() if k != "schedule"},
    "pretrain": ["boolean"],
    "pretrain_epochs": [_FROM_ONE],
    "epochs": [_FROM_ONE],
    "clustering_weight": [Interval(Real, 0, None, closed="left")],
}


class JointObjective(ABC):
    """A loss on codes and centres, for m members at once.

    Parameters
    ----------
    centers : Tensor of shape (m, k, e)
        Where the centres start; they are learnt in place.
    """

    def __init__(self, centers: torch.Tensor) -> None:
        # Room to spare, as for the weights of a network: no centre is at the end,
        # where a kernel may round differently.
        room = -(-centers.numel() // 1024) * 1024
        self._flat = centers.new_zeros(room)
        self._flat_gradient = torch.zeros_like(self._flat)
        self.centers = self._flat[: centers.numel()].view_as(centers)
        self._gradient = self._flat_gradient[: centers.numel()].view_as(centers)
        self.centers.copy_(centers)
        self._losses = self.centers.new_zeros(len(centers))

    @abstractmethod
    def gradient(self, codes: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """Gradient at the codes; learns the centres on the way."""

    @abstractmethod
    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes."""

    def begin_round(self, number: int, codes: Sequence[torch.Tensor]) -> list[bool]:
        """Look at the codes of all rows before a round; says which members are done.

        There are codes only for an objective that ``looks_at_all_rows``.
        """
        return [False] * len(self.centers)

    looks_at_all_rows = False

    def take_losses(self) -> torch.Tensor:
        losses = self._losses.clone()
        self._losses.zero_()
        return losses


def squared_to_centers(codes: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Squared distances (m, b, k) of codes (m, b, e) to centres (m, k, e)."""
    return (codes[:, :, None] - centers[:, None]).square().sum(-1)


def pull(
    weights: torch.Tensor, codes: torch.Tensor, centers: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of Σ w_ij |h_i - r_j|² at codes and centres, for fixed weights."""
    of_codes, of_centers = weights.sum(2, keepdim=True), column_sums(weights).mT
    at_codes = 2 * (of_codes * codes - product(weights, centers))
    at_centers = 2 * (of_centers * centers - product(weights.mT, codes))
    return at_codes, at_centers


@dataclass(frozen=True)
class JointPlan:
    """How long to train network and centres, and what a round is."""

    n_rounds: int
    steps_per_round: int


class JointClusterer(EncoderClusterer):
    """The shell of DCN, IDEC and DKM."""

    pretrain: bool
    pretrain_epochs: int
    schedule = "constant"
    # For those who repeat what was published with another optimizer beside the
    # objective: which one, and its rate.
    variation: Variation = USUAL
    joint_rate: float | None = None

    @abstractmethod
    def _plan(self, steps_per_epoch: int) -> JointPlan:
        """Lengths of the two phases."""

    @abstractmethod
    def _objective(
        self, centers: torch.Tensor, rows: Rows, rates: torch.Tensor
    ) -> JointObjective:
        """The loss at the codes."""

    def _first_centers(
        self, codes: torch.Tensor, seed: torch.Generator
    ) -> torch.Tensor:
        """Centres to start from, (k, e): k-means on the codes, 20 starts as published.

        Carried to the end, all 20 would take longer than an epoch of training.
        """
        found = kmeans(
            codes.double(), int(self.n_clusters), seed, n_starts=20, n_iter_start=10
        )
        return found.centers

    def _prepare(self, rows: Rows, progress: Progress) -> Prepared:
        start = one_network(self, rows, progress, n_landmarks=2)
        assert start.training is not None
        # Squared error on linear outputs, as published, whatever the range of rows.
        training = replace(start.training, bounded=False, variation=self.variation)
        return replace(start, training=training)

    def _run(self, start: Prepared) -> EncoderFit:
        (result,) = self._run_seeds(start, [start.seed])
        return result

    def _run_seeds(self, start: Prepared, seeds: Sequence[int]) -> list[EncoderFit]:
        """Train one member for each seed, all of them together."""
        with torch.no_grad(), on_device(start.rows.home):
            return _Fit(self, start, seeds).run()


class _Fit:
    """One fit of several members: two phases on one training."""

    def __init__(
        self, clusterer: JointClusterer, start: Prepared, seeds: Sequence[int]
    ) -> None:
        self._clusterer, self._start, self._seeds = clusterer, start, seeds
        self._source = scaled(start.rows, start.scaler, start.seed).sample()
        options, self._hidden = start.training, start.specs[0].hidden_layers
        assert options is not None
        steps_per_epoch = max(self._source.n_rows // options.batch_size, 1)
        self._plan = clusterer._plan(steps_per_epoch)
        self._n_before = int(clusterer.pretrain_epochs) if clusterer.pretrain else 0
        self._rate, self._device = options.learning_rate, start.rows.home
        runs = [
            TrainingRun(
                self._hidden,
                child_seed(seed, "member", *self._hidden, 0),
                (max(self._n_before, 1),),
            )
            for seed in seeds
        ]
        self._training: Training
        self._batches: Batches
        self._training, self._batches = start_training(
            self._source, runs, options, self._device
        )
        self._history: list[list[dict[str, float]]] = [[] for _ in seeds]

    def run(self) -> list[EncoderFit]:
        """Pretrain, place the centres, train both."""
        self._start.progress.stage("encode")
        if self._clusterer.pretrain:
            self._advance(self._n_before, None)
        codes = self._codes()
        centers = [
            self._clusterer._first_centers(c, generator(seed, "centres"))
            for c, seed in zip(codes, self._seeds, strict=True)
        ]
        self._batches.steps_per_round = self._plan.steps_per_round
        n_steps = self._plan.n_rounds * self._plan.steps_per_round
        rate = self._clusterer.joint_rate or self._rate
        rates = learning_rates(rate, "constant", n_steps)
        objective = self._clusterer._objective(
            torch.stack(centers).float(), self._start.rows, rates
        )
        objective.begin_round(0, codes)
        self._training.pursue(objective, rates)
        return self._finish(objective, self._advance(self._plan.n_rounds, objective))

    def _advance(
        self, n_rounds: int, objective: JointObjective | None
    ) -> dict[int, tuple[Encoder, torch.Tensor]]:
        """Train so many rounds; members that are done sooner are kept as they are."""
        kept: dict[int, tuple[Encoder, torch.Tensor]] = {}
        n_total = self._plan.n_rounds + self._n_before
        for number in rounds(self._training, self._batches, n_rounds, self._device):
            self._note_losses(objective)
            loss = sum(h[-1]["loss"] for h in self._history) / len(self._seeds)
            phase = "pretraining" if objective is None else "clustering"
            detail = f"{phase}, round {number} of {n_rounds}, loss {loss:.4f}"
            self._start.progress.advance(1 / n_total, detail)
            self._look(objective, number, kept)
            if len(kept) == len(self._seeds):
                break
        return kept

    def _look(
        self,
        objective: JointObjective | None,
        number: int,
        kept: dict[int, tuple[Encoder, torch.Tensor]],
    ) -> None:
        """Let the objective see where all rows are, and keep members that are done."""
        if objective is None:
            return
        codes = self._codes() if objective.looks_at_all_rows else []
        for member, done in enumerate(objective.begin_round(number, codes)):
            if done and member not in kept:
                encoder = self._training.encoder(member)
                kept[member] = encoder, objective.centers[member].clone()

    def _note_losses(self, objective: JointObjective | None) -> None:
        steps = self._batches.steps_per_round
        losses = (self._training.take_losses() / steps).tolist()
        extra = (
            None if objective is None else (objective.take_losses() / steps).tolist()
        )
        for member, history in enumerate(self._history):
            entry = {"epoch": len(history) + 1, "loss": losses[member]}
            if extra is not None:
                entry["clustering_loss"] = extra[member]
            history.append(entry)

    def _codes(self) -> list[torch.Tensor]:
        """Codes of all rows for every member."""
        members = range(len(self._seeds))
        return [self._encode(self._training.encoder(member)) for member in members]

    def _encode(self, encoder: Encoder) -> torch.Tensor:
        codes = torch.cat([encode(encoder, block) for block in self._source.blocks()])
        collapsed = is_collapsed(codes)
        if self._start.rows_are_equal:  # then equal codes are right
            collapsed = not bool(torch.isfinite(codes).all())
        if collapsed:
            raise _collapse()
        return codes

    def _finish(
        self,
        objective: JointObjective,
        kept: dict[int, tuple[Encoder, torch.Tensor]],
    ) -> list[EncoderFit]:
        self._start.progress.stage("assign")
        results = []
        for member, history in enumerate(self._history):
            encoder, centers = kept.get(member) or (
                self._training.encoder(member),
                objective.centers[member],
            )
            codes = self._encode(encoder).double()
            centers = centers.double()
            if not bool(torch.isfinite(centers).all()):
                raise _collapse()
            # A centre that lost all its rows takes the row farthest from any centre.
            centers = revive_empty(codes, centers)
            spec = MemberSpec(self._hidden, len(history), 2)
            results.append(
                EncoderFit(
                    FittedEncoder(self._start.scaler, encoder, centers),
                    codes,
                    nearest(codes, centers)[:, 0],
                    MemberReport(spec, tuple(history), collapsed=False),
                )
            )
        return results


def _collapse() -> CollapsedEnsembleError:
    return CollapsedEnsembleError(
        "the autoencoder gave the same code, or no finite one, for all rows: try a "
        "smaller learning_rate, pretrain=True, or another scale (scale='standard' "
        "suits columns of different units)."
    )


def fit_seeds(
    estimator: JointClusterer, X: Any, seeds: Sequence[int]
) -> list[JointClusterer]:
    """Fit one copy of an estimator for each seed, all trained as one ensemble.

    Each copy ends as ``estimator.set_params(random_state=seed).fit(X)`` would, but
    ten of them take little longer than one on a GPU.

    Parameters
    ----------
    estimator : DCN, IDEC or DKM
    X : array-like, DataFrame, torch tensor or sparse matrix \
of shape (n_samples, n_features)
    seeds : sequence of int

    Returns
    -------
    list of fitted estimators, in the order of the seeds

    Examples
    --------
    >>> from scedae.baselines import DCN, fit_seeds
    >>> from scedae.datasets import make_tetra
    >>> X, y = make_tetra(200, random_state=0)
    >>> brief = DCN(4, hidden_layers=(32, 16), pretrain_epochs=2, epochs=2)
    >>> [model.random_state for model in fit_seeds(brief, X, range(3))]
    [0, 1, 2]
    """
    if not isinstance(seeds, Iterable) or not (seeds := list(seeds)):
        raise ValueError(f"seeds={seeds!r} must name seeds, e.g. range(10).")
    copies = [clone(estimator).set_params(random_state=seed) for seed in seeds]
    with at_work(), one_blas_thread, Progress(estimator.verbose) as progress:
        for copy in copies:
            copy._validate_params()
        checked, *_ = [copy._check(X, progress) for copy in copies]
        rows = checked.brought()  # one copy of them is enough
        starts = [copy._prepare(rows, progress) for copy in copies]
        results = copies[0]._run_seeds(starts[0], [start.seed for start in starts])
    for copy, start, result in zip(copies, starts, results, strict=True):
        copy._store(start, result)
    return copies
