"""Coordinates that pictures are drawn from: small files beside the records."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scedae._whole_file import whole_file
from scedae.experiments.plan import Run


def points_file(folder: Path, run: Run) -> Path:
    parts = (run.experiment, run.data, run.variant, run.method)
    return folder / "points" / f"{'-'.join(part for part in parts if part)}.npz"


def write_points(path: Path, **arrays: np.ndarray) -> None:
    """The file appears when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_points(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)
