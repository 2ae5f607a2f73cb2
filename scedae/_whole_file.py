"""Write a file whole: it appears under its name when it is complete, or not at all.

Whoever writes holds a lock on the file that is not complete yet. A process that was
killed leaves such a file without a lock: the next one to write there deletes it.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing swept
    fcntl = None  # type: ignore[assignment]

_ON_WINDOWS = os.name == "nt"
_ENDING = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp", re.DOTALL)


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
    sweep(target.parent, target.name)
    with own_place(target, _touch) as temporary:
        mode = temporary.stat().st_mode
        yield temporary
        temporary.chmod(mode)  # as a plain open() gives it, whoever wrote the file
        reach_the_disk(temporary)
        os.replace(temporary, target)
    names_reach_the_disk(target.parent)


def _touch(path: Path) -> None:
    path.touch(exist_ok=False)


@contextmanager
def own_place(target: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """A file or folder beside ``target`` that is locked, and deleted if still there.

    ``make`` makes it. Who sweeps in that very moment may be faster than the lock: then
    there is another one.
    """
    while True:
        temporary = temporary_name(target)
        release = None
        try:
            make(temporary)
            release = _lock(temporary, must=False)
            if release is not None:
                yield temporary
                return
        finally:
            # First: what deletes a folder needs a handle, and they may be used up.
            if release is not None:
                release()
            delete(temporary)


def _lock(path: Path, *, must: bool) -> Callable[[], None] | None:
    """Lock a file or folder; what ends it, or None if it is another's, or gone.

    Where there are no locks (Windows, some file systems) there is an error if it
    ``must`` be locked, and otherwise none is held.
    """
    if fcntl is None:
        return lambda: None
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        _take(handle, must=must)
        if os.path.samestat(os.fstat(handle), path.stat()):
            return partial(os.close, handle)
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _take(handle: int, *, must: bool) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        if must:
            raise


def sweep(folder: Path, name: str | None = None) -> None:
    """Delete what killed processes left on their way to ``name`` (None: to any)."""
    if fcntl is None:
        return
    # Whatever cannot be deleted is no reason not to write.
    with suppress(OSError):
        for path in leftovers(folder, name):
            with suppress(OSError):
                _delete_if_dead(path)


def leftovers(folder: Path, name: str | None = None) -> list[Path]:
    """Files and folders under temporary names, dead or alive."""
    found = ((entry, _ENDING.fullmatch(entry.name)) for entry in folder.iterdir())
    return [entry for entry, own in found if own and name in (None, own["name"])]


def _delete_if_dead(path: Path) -> None:
    release = _lock(path, must=True)
    if release is None:
        return
    try:
        delete(path)
    finally:
        release()


def delete(path: Path) -> None:
    """A file, or a folder of files: nothing below is followed or deleted."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    with suppress(OSError):  # an empty one: no handle is needed to look into it
        path.rmdir()
        return
    for entry in path.iterdir():
        entry.unlink(missing_ok=True)
    with suppress(FileNotFoundError):  # another has swept it meanwhile
        path.rmdir()


def reach_the_disk(path: Path) -> None:
    """Wait until the bytes of a file are on the disk."""
    # Windows synchronises only what may be written.
    _synchronise(path, os.O_RDWR if _ON_WINDOWS else os.O_RDONLY)


def names_reach_the_disk(folder: Path) -> None:
    """The names in a folder too, where the system lets it be synchronised.

    Windows cannot even open it.
    """
    with suppress(OSError):
        _synchronise(folder, os.O_RDONLY)


def _synchronise(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
