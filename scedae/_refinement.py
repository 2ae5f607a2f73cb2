"""refine: a network learns from the ensemble, and may move rows it was in doubt about.

The sixth verb, for those who ask for it. The ensemble's labels are taught where it was
surest, nine tenths of each cluster; where it was not, the network decides, by what the
other rows of the neighbourhood are (``_autoencoder.student``). How far a row may be
moved in that training follows from the rows: half of the distance to its tenth nearest.
Where there is time, a second network learns from the first what that was surest of.
The judge that chose the graph keeps the answer or refuses it; it is also refused where
more rows would move than were left to the network: whoever overrules the teacher has
not learnt from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from scedae import _spectral as spectral
from scedae._autoencoder import (
    Batches,
    Encoder,
    Lesson,
    encode,
    learning_rates,
    on_device,
    rounds,
    start_student,
)
from scedae._defaults import Refining, StudentPlan, resolve_batch_size
from scedae._model import Assignment, Refinement
from scedae._random import generator
from scedae._rows import ScaledRows

# Part of each cluster whose labels are taught, the surest rows first.
_TAUGHT = 0.9
# How far a row may be moved: this part of the distance to that neighbour.
_RADIUS, _NEIGHBOR = 0.5, 10
# Rows among which neighbours are looked for; of more, fewer are counted.
_MOST_REFERENCES = 20_000
# A refined answer may cut this much more than the one before it. It nearly always cuts
# a little more, as borders that are smooth in the rows are not those of the graph.
_MOST_WORSE = 1.25
# It may move the rows that were left to it, or as many others.
_MOST_MOVED = 1 - _TAUGHT


@dataclass(frozen=True)
class Refined:
    """The report, and the network with its answers if they are kept."""

    report: Refinement
    student: Encoder | None = None
    answers: torch.Tensor | None = None  # (n, k)


def refine(
    rows: ScaledRows,
    assignment: Assignment,
    n_clusters: int,
    judge: spectral.Judge,
    seed: int,
    refining: Refining,
    tick: Callable[[float, str], None],
) -> Refined:
    """Teach a network what the ensemble is sure of, and ask it about all rows."""
    labels, confidence = assignment.labels, assignment.confidence
    if len(labels.unique()) < 2:
        return Refined(Refinement("single"))
    radius = _radius(rows, seed)

    def score(answer: torch.Tensor) -> float:
        return judge.weigh(answer[judge.rows].cpu().numpy(), n_clusters).score

    before, taught, kept = score(labels), labels, None
    plan = refining.student(rows.n_rows, rows.n_columns)
    precision = refining.precision
    for i in range(plan.n_networks):
        tell = partial(_tell, tick, i + 1, plan.n_networks)
        lesson = _lesson(taught, confidence, radius, n_clusters)
        numbers = generator(seed, "student", i)
        student = _taught(rows, lesson, plan, numbers, precision, tell)
        answers = torch.cat([encode(student, block) for block in rows.blocks()])
        found = answers.argmax(1)
        report = _verdict(labels, found, answers, n_clusters, before, score(found))
        if not report.kept:
            break  # what the network before it said may stand
        kept = Refined(report, student, answers)
        taught, confidence = found, spectral.margin_of_answers(answers)
    return kept or Refined(report)


def _tell(
    tick: Callable[[float, str], None], number: int, of: int, share: float, words: str
) -> None:
    tick(share / of, f"network {number} of {of}, {words}")


def _lesson(
    labels: torch.Tensor,
    confidence: torch.Tensor,
    radius: torch.Tensor,
    n_clusters: int,
) -> Lesson:
    """The labels of those rows that are surest, and how large clusters are."""
    counts = torch.bincount(labels, minlength=n_clusters)
    shares = (counts / counts.sum()).float().clamp(min=0.1 / len(labels))
    return Lesson(labels, surest(labels, confidence, counts).float(), radius, shares)


def surest(
    labels: torch.Tensor, confidence: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """Which rows are taught, (n,): nine tenths of each cluster, at least one row."""
    order = confidence.argsort(descending=True, stable=True)
    order = order[labels[order].argsort(stable=True)]  # cluster by cluster
    first = counts.cumsum(0) - counts
    place = torch.empty_like(labels)
    place[order] = torch.arange(len(labels), device=labels.device)
    place -= first[labels]
    return place < (_TAUGHT * counts[labels]).clamp(min=1)


def _radius(rows: ScaledRows, seed: int) -> torch.Tensor:
    """How far each row may be moved, (n,).

    Where rows are many, a neighbour is looked for among some of them, and accordingly
    fewer are counted.
    """
    order = torch.randperm(rows.n_rows, generator=generator(seed, "radius"))
    chosen = order[:_MOST_REFERENCES].sort().values.to(rows.device)
    references = rows.take(chosen)
    count = max(round(_NEIGHBOR * len(references) / rows.n_rows), 1)
    count = min(count + 1, len(references))  # the row itself is the first
    found = [
        spectral.nearest_landmarks(block, references, count).squared[:, -1]
        for block in rows.blocks()
    ]
    return _RADIUS * torch.cat(found).sqrt().float()


def _taught(
    rows: ScaledRows,
    lesson: Lesson,
    plan: StudentPlan,
    numbers: torch.Generator,
    precision: str,
    tick: Callable[[float, str], None],
) -> Encoder:
    """The network after its training."""
    device = lesson.labels.device
    with torch.no_grad(), on_device(device):
        batch_size = resolve_batch_size(plan.batch_size, rows.n_rows)
        batches = Batches(rows, [numbers], batch_size)
        per_epoch = batches.steps_per_epoch
        n_epochs = -(-plan.n_steps // per_epoch)
        widths = (rows.n_columns, plan.width, plan.width, len(lesson.shares))
        rates = learning_rates(plan.learning_rate, "one-cycle", n_epochs * per_epoch)
        training = start_student(
            widths, lesson, batch_size, numbers, rates, precision=precision
        )
        for epoch in rounds(training, batches, n_epochs, device):
            loss = float(training.take_losses()) / per_epoch
            tick(1 / n_epochs, f"epoch {epoch} of {n_epochs}, loss {loss:.4f}")
        return training.encoder(0)


def _verdict(
    labels: torch.Tensor,
    found: torch.Tensor,
    answers: torch.Tensor,
    n_clusters: int,
    before: float,
    after: float,
) -> Refinement:
    """What is said of the network's answer, and whether it is taken."""
    if not bool(torch.isfinite(answers).all()):
        return Refinement("diverged")
    pairs = (labels * n_clusters + found)[labels != found].cpu().numpy()
    numbers, counts = np.unique(pairs, return_counts=True)
    flows = tuple(
        (*divmod(int(numbers[i]), n_clusters), int(counts[i]))
        for i in np.argsort(-counts, kind="stable")
    )
    moved = len(pairs) / len(labels)
    verdict = "worse" if after > _MOST_WORSE * before else "kept"
    if len(pairs) > round(_MOST_MOVED * len(labels)):
        verdict = "overruled"
    if len(found.unique()) < len(labels.unique()):
        verdict = "empty"
    return Refinement(verdict, moved, flows, before, after)
