"""Write a file whole: it appears under its name when it is complete, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def temporary_name(target: Path) -> Path:
    """A hidden name beside ``target`` that nobody else has: no thread, no other
    process, no container that shares the folder.
    """
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty file to fill, which becomes ``path`` if nothing goes wrong.

    It reaches the disk before it gets its name: after a loss of power there is the
    former file or the new one. If anything is raised inside, Ctrl-C included, it is
    deleted, and what stood at ``path`` stays.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r}.")
    temporary = temporary_name(target)
    try:
        temporary.touch(exist_ok=False)
        mode = temporary.stat().st_mode
        yield temporary
        temporary.chmod(mode)  # as a plain open() gives it, whoever wrote the file
        _reach_the_disk(temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    # The name too; not every system lets a folder be opened, or synchronised.
    with suppress(OSError):
        _reach_the_disk(target.parent)


def _reach_the_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
