"""DCN, IDEC and DKM: all seeds of a method train as one ensemble."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from scedae._device import resolve_device
from scedae.baselines import DCN, DKM, IDEC, fit_seeds
from scedae.exceptions import CollapsedEnsembleError
from scedae.experiments.data_sets import DataSet, load_for_joint
from scedae.experiments.environment import Place, circumstances, scores_of
from scedae.experiments.plan import PaperRun
from scedae.experiments.specification import Specification
from scedae.experiments.store import Record
from scedae.internal import Variation

_CLASSES = {"dcn": DCN, "idec": IDEC, "dkm": DKM}


def fit_joint(runs: Sequence[PaperRun], place: Place) -> list[Record]:
    """Records of runs of one method and variant; the replicate is the seed."""
    run, published = runs[0], runs[0].variant == "published"
    units_of = run.method.split("-")[0] if published else None
    data = load_for_joint(place.specification, run.data, units_of)
    device = resolve_device(place.device)
    settings = _published(run, place.specification) if published else {}
    model = _model(run.method, data, place, settings)
    start = time.perf_counter()
    labels = _labels_of_seeds(model, data, [run.replicate for run in runs])
    seconds = (time.perf_counter() - start) / len(runs)
    return [
        {
            **asdict(run),
            "seed": run.replicate,
            "scores": scores_of(data.classes, found),
            **circumstances(device, len(found), seconds),
        }
        for run, found in zip(runs, labels, strict=True)
    ]


def _published(run: PaperRun, specification: Specification) -> dict[str, Any]:
    """What the published programs have: for a method, and for it on a data set."""
    name, settings = run.method.split("-")[0], specification.joint_settings
    own = {**settings.get(name, {}), **settings.get(run.data, {}).get(name, {})}
    return {"scale": "raw", **own}


def _model(method: str, data: DataSet, place: Place, settings: dict[str, Any]) -> Any:
    name, _, pretrained = method.partition("-")
    settings = {**settings, **place.specification.joint_changes}
    divisor = place.specification.width_divisor
    if divisor > 1:
        settings["hidden_layers"] = tuple(w // divisor for w in (500, 500, 2000))
    kind, descent = _CLASSES[name], settings.pop("descent", None)
    if descent is not None:
        kind = _descending(kind, **descent)
    return kind(
        data.n_clusters, pretrain=bool(pretrained), device=place.device, **settings
    )


def _descending(kind: Any, rate: float, momentum: float) -> Any:
    """The same method with gradient descent beside its objective, not Adam."""
    changes = {"variation": Variation(momentum=momentum), "joint_rate": rate}
    return type(kind.__name__, (kind,), changes)


def _labels_of_seeds(model: Any, data: DataSet, seeds: list[int]) -> list[np.ndarray]:
    """Labels of each seed; one that collapses must not take the others with it."""
    try:
        return [fitted.labels_ for fitted in fit_seeds(model, data.rows, seeds)]
    except CollapsedEnsembleError:
        if len(seeds) == 1:
            # One code for all rows is one cluster.
            return [np.zeros(len(data.rows), int)]
        return [_labels_of_seeds(model, data, [seed])[0] for seed in seeds]
