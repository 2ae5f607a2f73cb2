"""Write results all or nothing: beside the target first, then renamed."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from scedae._whole_file import temporary_name, whole_file
from scedae.cli.messages import InputError

LABELS, MODEL, RUN, REPORT = "labels.csv", "model.scedae", "run.json", "report.html"


@contextmanager
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """A folder to fill, which becomes ``target`` if nothing goes wrong.

    It is made at once, so that a place where nothing can be written is found before
    the work and not after it. What stands at ``target`` is replaced only when asked
    for, and only a folder of an earlier run: ``-o ~ --force`` must not empty a home.
    """
    target = _absolute(target)
    _refuse_existing(target, force=force)
    if target.exists() and not _is_run(target):
        raise InputError(
            f"{target} is not a folder written by scedae fit: --force will not "
            "replace it."
        )
    folder = temporary_name(target)
    old = folder.with_suffix(".old")
    folder.mkdir()
    try:
        yield folder
        if target.exists():
            target.rename(old)
        folder.rename(target)
    finally:
        # Interrupted between the two: the earlier run gets its name back.
        if old.exists() and not target.exists():
            old.rename(target)
        for leftover in (old, folder):
            shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def new_file(target: Path, *, force: bool) -> Iterator[Path]:
    """The name of a file to write, which becomes ``target`` if nothing goes wrong."""
    target = _absolute(target)
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file.")
    _refuse_existing(target, force=force)
    with whole_file(target) as path:
        yield path


def _absolute(target: Path) -> Path:
    # Links are followed: renaming must replace what they point to, not them.
    target = target.resolve()
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent} to write into.")
    return target


def _refuse_existing(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise InputError(f"{target} exists; choose another name, or add --force.")


def _is_run(folder: Path) -> bool:
    return folder.is_dir() and ((folder / RUN).is_file() or not any(folder.iterdir()))


def write_labels(
    file: IO[str], parts: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]
) -> None:
    """Lines of id, label and confidence, from parts of such columns."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", "label", "confidence"])
    for ids, labels, confidence in parts:
        shown = (f"{value:.6f}" for value in confidence.tolist())
        writer.writerows(zip(ids.tolist(), labels.tolist(), shown, strict=True))


def write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(
        json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
