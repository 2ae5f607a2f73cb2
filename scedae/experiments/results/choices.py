"""What the paper leaves open: the effect of each choice, one change at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from scedae.experiments.results.cells import Measured, Measurements
from scedae.experiments.results.paper_tables import markdown_table, plus_minus
from scedae.experiments.specification import Specification, Variant

METRICS = ("acc", "nmi", "ari")


@dataclass(frozen=True)
class Effect:
    """A variant on one data set, beside the ensemble as we chose it."""

    data: str
    variant: Variant
    scores: dict[str, Measured]
    reference: dict[str, Measured]

    def change(self, metric: str) -> float:
        return self.scores[metric].mean - self.reference[metric].mean


def find_effects(found: Measurements, specification: Specification) -> list[Effect]:
    """The variants that were run, with the reference of the same data set first."""
    effects = []
    reference_name = next(iter(specification.variants))
    for data in specification.data:
        reference = _scores(found, data, reference_name)
        for variant in specification.variants.values():
            scores = _scores(found, data, variant.name)
            if scores and reference:
                effects.append(Effect(data, variant, scores, reference))
    return effects


def _scores(found: Measurements, data: str, variant: str) -> dict[str, Measured]:
    group = ("choices", data, "ens-struct", "", variant)
    scores = {metric: found.measured(metric, *group) for metric in METRICS}
    return {metric: score for metric, score in scores.items() if score is not None}


def effects_csv(effects: Sequence[Effect]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ["data", "question", "variant", "metric", "runs", "mean", "spread"]
    writer.writerow([*columns, "change"])
    for effect in effects:
        about = [effect.data, effect.variant.question, effect.variant.name]
        for metric, score in effect.scores.items():
            numbers = [score.mean, score.spread, effect.change(metric)]
            shown = [f"{number:.2f}" for number in numbers]
            writer.writerow([*about, metric, score.n_runs, *shown])
    return text.getvalue()


def effects_markdown(effects: Sequence[Effect], specification: Specification) -> str:
    parts = []
    for key, entry in specification.data.items():
        own = [effect for effect in effects if effect.data == key]
        if own:
            parts.append(f"### {entry.title}\n\n{_grid(own)}")
    return "\n\n".join(parts)


def _grid(effects: Sequence[Effect]) -> str:
    heads = ["open", "variant", "runs"]
    for metric in METRICS:
        heads += [metric.upper(), "change"]
    body = []
    for effect in effects:
        line = [effect.variant.question, effect.variant.name]
        line.append(str(effect.scores["acc"].n_runs))
        for metric in METRICS:
            line += [plus_minus(effect.scores[metric]), f"{effect.change(metric):+.2f}"]
        body.append(line)
    return markdown_table(heads, body)
