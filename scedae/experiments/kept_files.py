"""Files beside the records: encodings, and coordinates that pictures are drawn from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from scedae._whole_file import whole_file
from scedae.experiments.plan import PaperRun
from scedae.experiments.specification import Variant


def points_file(folder: Path, run: PaperRun) -> Path:
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


def encoding_file(folder: Path, data: str, variant: Variant | None) -> Path:
    """Where encodings are kept; variants of the training have files of their own."""
    own = f"-{variant.trained}" if variant and variant.trained else ""
    return folder / "encodings" / f"{data}{own}.safetensors"


def encoding_name(structure: str, initialization: int, epochs: int) -> str:
    return f"{structure}/{initialization}/{epochs}"


def read_encoding(path: Path, name: str, device: torch.device) -> torch.Tensor | None:
    """Codes of all rows (n, e); None when the network that made them collapsed."""
    from safetensors import safe_open

    with safe_open(path, framework="pt", device=str(device)) as file:
        if name in json.loads(file.metadata()["collapsed"]):
            return None
        return file.get_tensor(name)
