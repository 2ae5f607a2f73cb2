"""The output folder: of one kind, and one run at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scedae.exceptions import ScedaeError
from scedae.experiments.specification import Specification

_ABOUT = "about.json"


class RequestError(ScedaeError, ValueError):
    """What was asked for cannot be run; the message says why."""


@contextmanager
def claimed(folder: Path, specification: Specification) -> Iterator[None]:
    """The folder for oneself, made if need be; another kind of run is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    kind = "quick" if specification.is_quick else "paper"
    about = folder / _ABOUT
    if about.exists() and kind_of(folder) != kind:
        raise RequestError(
            f"{folder} holds a {kind_of(folder)} run, and this one is {kind}: their "
            "numbers must not mix. Choose another folder with -o."
        )
    with _lock(folder):
        about.write_text(json.dumps({"kind": kind}) + "\n", encoding="ascii")
        # Encodings are large, and to be had again from the seed.
        (folder / ".gitignore").write_text("encodings/\n.lock\n", encoding="ascii")
        yield


def kind_of(folder: Path) -> str:
    """``paper`` or ``quick``."""
    try:
        return str(json.loads((folder / _ABOUT).read_bytes())["kind"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{folder} is no folder of scedae reproduce.") from error


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Held by the system, so that no killed run can leave it behind."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with (folder / ".lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RequestError(f"another run is working in {folder}.") from error
        yield
