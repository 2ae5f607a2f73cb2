"""Where runs take place, and what every record of one says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import normalized_mutual_info_score

from scedae._device import resolve_device
from scedae._provenance import device_name, now, versions
from scedae.experiments.data_sets import DataSet
from scedae.experiments.plan import PaperRun
from scedae.experiments.specification import Specification
from scedae.experiments.store import Record
from scedae.metrics import evaluate

# Below this many rows a CPU core clusters faster than a GPU is told what to do.
_GPU_ROWS = 20_000


@dataclass(frozen=True)
class Place:
    """Where runs find their encodings, and what they compute on."""

    specification: Specification
    folder: Path
    device: str

    def clustering_device(self, n_rows: int) -> torch.device:
        return resolve_device(self.device if n_rows >= _GPU_ROWS else "cpu")


def circumstances(device: torch.device, n_rows: int, seconds: float) -> dict[str, Any]:
    """Rows, time, and where the run took place."""
    return {
        "rows": n_rows,
        "seconds": round(seconds, 3),
        "device": device_name(device),
        "versions": versions(),
        "created": now(),
    }


def scores_of(classes: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """ACC, NMI and ARI, and NMI over the geometric mean, which the paper refers to."""
    scores = evaluate(classes, labels)
    scores["nmi_geometric"] = normalized_mutual_info_score(
        classes, labels, average_method="geometric"
    )
    return {metric: round(float(value), 6) for metric, value in scores.items()}


def scored(
    run: PaperRun,
    data: DataSet,
    labels: np.ndarray,
    root_seed: int,
    device: torch.device,
    seconds: float,
) -> Record:
    """The record of labels."""
    return {
        **asdict(run),
        "seed": run.seed(root_seed),
        "scores": scores_of(data.classes, labels),
        **circumstances(device, len(labels), seconds),
    }
