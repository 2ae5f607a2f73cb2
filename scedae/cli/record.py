"""What is written down of a run: enough to repeat it."""

from __future__ import annotations

import logging
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from scedae import SCEDAE
from scedae._provenance import device_name, now, versions
from scedae._tables.encoder import TableEncoder
from scedae.cli.choice import Choice, Reading
from scedae.cli.messages import InputError
from scedae.cli.output import RUN, unsealed
from scedae.cli.sources import Source
from scedae.cli.tables import Table


class StageClock(logging.Handler):
    """Seconds of each stage, from the messages the estimator logs as they begin."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._begun: list[tuple[str, float]] = []

    def __enter__(self) -> StageClock:
        self._logger = logging.getLogger("scedae")
        self._level = self._logger.level
        self._logger.addHandler(self)
        self._logger.setLevel(logging.INFO)
        return self

    def __exit__(self, *error: object) -> None:
        self.begin("")
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        self.begin(record.getMessage().split()[0])

    def begin(self, stage: str) -> None:
        self._begun.append((stage, time.perf_counter()))

    def seconds(self) -> dict[str, float]:
        ends = [start for _, start in self._begun[1:]]
        stages = zip(self._begun[:-1], ends, strict=True)
        return {name: round(end - start, 3) for (name, start), end in stages}


def describe_run(
    model: SCEDAE,
    sources: Mapping[str, Source],
    choice: Choice,
    reading: Reading,
    table: Table,
) -> dict[str, Any]:
    """Parameters, versions and data of a fit, as JSON has them."""
    source, *_ = sources.values()
    views = _views(model, sources) if table.views else {}
    return {
        "created": now(),
        "command": _command(),
        "estimator": type(model).__name__,
        "parameters": {**model.get_params(), "random_state": model.seed_},
        "seed": model.seed_,
        "device": device_name(model.device),
        "versions": versions(),
        "data": {
            "path": source.location,
            "sha256": source.sha256(),
            "n_rows": len(table.ids),
            "n_columns": table.rows.shape[1],
            "columns": table.columns,
            "id_column": table.id_column,
            "labels": choice.labels,
            "drop": list(choice.drop),
            "describe": list(choice.describe),
            "numeric": list(choice.numeric),
            "categorical": list(choice.categorical),
            "reading": asdict(reading),
        },
        "table": _table(table.encoder),
        "clusters": _clusters(model),
        "member_agreement": [
            None if np.isnan(share) else round(float(share), 6)
            for share in model.member_agreement_
        ],
        "stability": round(model.stability_, 6),
        "candidates": _candidates(model),
        "graphs": [asdict(graph) for graph in model.candidates_],
        "refinement": _refinement(model),
        **views,
    }


def _views(model: SCEDAE, sources: Mapping[str, Source]) -> dict[str, Any]:
    """Files of the views, and what each gives to the answer."""
    lines = []
    for name, view in model.views_.items():
        source, share = sources[name], view.agreement
        lines.append(
            {
                "name": name,
                "path": source.location,
                "sha256": source.sha256(),
                "n_columns": view.n_features_in,
                "trained": view.trained,
                "left_out": view.left_out,
                "agreement": None if np.isnan(share) else round(share, 6),
            }
        )
    return {"views": lines}


def _refinement(model: SCEDAE) -> dict[str, Any] | None:
    """What the last step did to the clusters; None, where there was none."""
    found = model.refinement_
    if found is None:
        return None
    return {**asdict(found), "kept": found.kept, "reason": found.reason}


def _command() -> str | None:
    """What was typed, if this process is the command."""
    program = Path(sys.argv[0])
    if program.stem not in ("scedae", "__main__"):
        return None
    return shlex.join(["scedae", *sys.argv[1:]])


def _table(encoder: TableEncoder | None) -> list[dict[str, Any]]:
    """What was done with each column; the rest of it is in the model."""
    if encoder is None:
        return []
    used = [
        {
            "column": each.name,
            "kind": each.kind,
            "used": True,
            "gaps": each.gaps,
            "features": len(each.feature_names),
        }
        for each in encoder.columns_
    ]
    left_out = [
        {"column": each.name, "kind": each.kind, "used": False, "gaps": each.gaps}
        for each in encoder.left_out_
    ]
    return [*used, *left_out]


def _clusters(model: SCEDAE) -> list[dict[str, Any]]:
    """Size and mean confidence of each cluster."""
    found = []
    for label in range(len(model.cluster_centers_)):
        own = model.confidence_[model.labels_ == label]
        mean = round(float(own.mean()), 6) if len(own) else None
        found.append({"label": label, "rows": len(own), "confidence": mean})
    return found


def _candidates(model: SCEDAE) -> list[dict[str, Any]]:
    """Numbers of clusters with the evidence for each; none, if the number was given."""
    if not hasattr(model, "suggestion_"):
        return []
    return [asdict(candidate) for candidate in model.suggestion_.candidates]


def read_record(folder: Path) -> dict[str, Any]:
    """The record of an earlier run."""
    path = folder / RUN
    if not path.is_file():
        raise InputError(f"{folder} is no folder of a run: it has no {RUN}.")
    try:
        run = unsealed(path.read_bytes())
        asked_of(run)
        run["data"]["path"], run["data"]["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is not as scedae fit wrote it ({error}); fit again."
        ) from error
    return run


def asked_of(run: dict[str, Any]) -> tuple[Choice, Reading]:
    """What was said of the table of an earlier run."""
    data = run["data"]
    several = ("columns", "drop", "describe", "numeric", "categorical")
    choice: dict[str, Any] = {n: tuple(data.get(n) or ()) for n in several}
    reading = dict(data.get("reading", {}))
    reading["na_values"] = tuple(reading.get("na_values", ()))
    one = {name: data[name] for name in ("id_column", "labels")}
    return Choice(**choice, **one), Reading(**reading)
