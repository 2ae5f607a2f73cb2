"""The data sets of the quality benchmark, by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from scedae import datasets
from scedae.exceptions import DatasetNotFoundError

Data = tuple[np.ndarray, np.ndarray]

# Kinds of data other than digits: pictures of objects, single cells, texts, letters by
# measures of their shape, pieces of pictures, movements. No part of the package.
MORE = (
    "coil20",
    "sc_worm_neuron",
    "text_r8_tfidf2000",
    "letter",
    "segment",
    "har_watch_exercises",
    "text_webkb_tfidf2000",
    "sc_mouse_bladder2100",
    "text_banking77_use512",
)
# Rules are chosen on half A and reported on both.
HALVES = {
    "A": (
        "digits",
        "mnist",
        "coil20",
        "text_r8_tfidf2000",
        "sc_worm_neuron",
        "segment",
        "har_watch_exercises",
        "tetra",
        "lsun",
        "target",
        "engytime",
    ),
    "B": (
        "pendigits",
        "usps",
        "letter",
        "text_webkb_tfidf2000",
        "sc_mouse_bladder2100",
        "text_banking77_use512",
        "chainlink",
        "atom",
        "hepta",
        "twodiamonds",
        "wingnut",
    ),
}

# What recipes are compared on; the largest comes last, so that a table is there early.
COMPARED = (*datasets.FCPS_NAMES, "digits", *MORE, "usps", "pendigits", "mnist")


def _lifted(name: str, kind: str) -> Data:
    H, y = datasets.load_fcps(name)
    return datasets.lift(H, kind, random_state=0), y


def _more(name: str) -> Data:
    file = Path(os.environ.get("SCEDAE_DATA", "."), "more", f"{name}.npz")
    if not file.is_file():
        raise DatasetNotFoundError(
            f"{file} is missing: it holds the arrays X and y; SCEDAE_DATA names the "
            "folder above it."
        )
    return _read(file)


def _read(file: Path) -> Data:
    with np.load(file, allow_pickle=False) as arrays:
        return arrays["X"], arrays["y"]


def of_folder(folder: Path) -> dict[str, Callable[[], Data]]:
    """Every NAME.npz of a folder, smallest first: it holds the arrays X and y."""
    files = sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_size)
    return {file.stem: partial(_read, file) for file in files}


DATA: dict[str, Callable[[], Data]] = {
    **{name: lambda name=name: datasets.load_by_name(name) for name in datasets.NAMES},
    "pendigits-train": lambda: datasets.load_pendigits("train"),
    "mnist-train": lambda: datasets.load_mnist("train"),
    **{
        f"{name}-{kind}": lambda name=name, kind=kind: _lifted(name, kind)
        for name in ("tetra", "chainlink", "lsun")
        for kind in datasets.LIFTS
    },
    **{name: lambda name=name: _more(name) for name in MORE},
}
