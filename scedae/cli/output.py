"""Write results all or nothing: beside the target first, then renamed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from scedae._whole_file import (
    delete,
    names_reach_the_disk,
    own_place,
    reach_the_disk,
    sweep,
    whole_file,
)
from scedae.cli.messages import InputError, printable

LABELS, MODEL, RUN, REPORT = "labels.csv", "model.scedae", "run.json", "report.html"
_FILES = {LABELS, MODEL, RUN, REPORT}
_CHECKSUM = "checksum"
LABEL_COLUMNS = ("id", "label", "confidence")

# What a program for tables takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@contextmanager
def new_folder(
    target: Path, *, force: bool, inputs: Sequence[Path] = ()
) -> Iterator[Path]:
    """A folder to fill, which becomes ``target`` if nothing goes wrong.

    It is made at once, so that a place where nothing can be written is found before
    the work and not after it. What stands at ``target`` is replaced only when asked
    for, and only a folder of an earlier run that holds nothing else: ``-o ~ --force``
    must not empty a home, nor delete what the run reads.
    """
    target = _absolute(target)
    _recover(target)
    _refuse_existing(target, force=force)
    _refuse_foreign(target)
    _refuse_inputs(target, inputs)
    with own_place(target, Path.mkdir) as folder:
        yield folder
        for path in folder.iterdir():
            reach_the_disk(path)
        names_reach_the_disk(folder)
        _replace(folder, target)
    names_reach_the_disk(target.parent)


def _replace(folder: Path, target: Path) -> None:
    """Give a folder its name; a former one of that name goes when it is done."""
    if not target.exists():
        folder.rename(target)
        return
    try:
        target.rename(_former(target))
        folder.rename(target)
    finally:
        # Interrupted between the two: the earlier run gets its name back.
        _recover(target)


def _former(target: Path) -> Path:
    return target.with_name(f".{target.name}.former")


def _recover(target: Path) -> None:
    """Put an end to what was interrupted while a folder got its name."""
    former = _former(target)
    if former.exists() and not target.exists():
        former.rename(target)
    elif former.exists() and _foreign(former) is None:
        _delete_run(former)
    sweep(target.parent, target.name)


def _delete_run(folder: Path) -> None:
    """The record goes last: killed on the way, what is left is known as ours."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name == RUN):
        path.unlink()
    delete(folder)


@contextmanager
def new_file(
    target: Path, *, force: bool, inputs: Sequence[Path] = ()
) -> Iterator[Path]:
    """The name of a file to write, which becomes ``target`` if nothing goes wrong."""
    target = _absolute(target)
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file.")
    _refuse_existing(target, force=force)
    _refuse_inputs(target, inputs)
    with whole_file(target) as path:
        yield path


@contextmanager
def new_labels(
    target: Path, *, force: bool, inputs: Sequence[Path]
) -> Iterator[IO[str]]:
    """A file of labels to fill; only another such file is ever replaced."""
    if force:
        refuse_unless(target, _is_labels)
    with (
        new_file(target, force=force, inputs=inputs) as path,
        path.open("w", encoding="utf-8", newline="") as file,
    ):
        yield file
        # Before the file gets its name: a full disk may show only now.
        file.flush()


def refuse_unless(target: Path, is_labels: Callable[[Path], bool]) -> None:
    """Nothing but labels of an earlier command is replaced, even with --force."""
    if target.is_file() and not is_labels(target):
        raise InputError(
            f"{target} is not a file of labels written by scedae: --force will not "
            "replace it."
        )


def _is_labels(path: Path) -> bool:
    header = ",".join(LABEL_COLUMNS).encode()
    with path.open("rb") as file:
        head = file.read(len(header) + 1)
    return head in (b"", header + b"\n", header + b",")


def _absolute(target: Path) -> Path:
    # Links are followed: renaming must replace what they point to, not them.
    target = target.resolve()
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent} to write into.")
    return target


def _refuse_existing(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise InputError(f"{target} exists; choose another name, or add --force.")


def _refuse_foreign(target: Path) -> None:
    if target.exists() and (reason := _foreign(target)):
        raise InputError(
            f"{target} is not a folder written by scedae fit ({reason}): --force will "
            "not replace it."
        )


def _foreign(folder: Path) -> str | None:
    """What shows that somebody else wrote a folder; None: an earlier run did."""
    if not folder.is_dir():
        return "it is a file"
    found = {path.name for path in folder.iterdir()}
    if not found:
        return None
    if more := sorted(found - _FILES):
        return f"it holds {more[0]!r}"
    if any(not p.is_file() or p.is_symlink() for p in folder.iterdir()):
        return "it holds folders or links"
    return None if _is_record(folder / RUN) else f"it has no {RUN} of a run"


def _is_record(path: Path) -> bool:
    """Whether a file says that scedae wrote it."""
    try:
        content = json.loads(path.read_bytes())
        return "scedae" in content["versions"] and "estimator" in content
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _refuse_inputs(target: Path, inputs: Sequence[Path]) -> None:
    for path in inputs:
        found = path.resolve()
        if target in (found, *found.parents) or _same_file(found, target):
            raise InputError(
                f"{target} is read by this command: choose another name to write to."
            )


def _same_file(one: Path, other: Path) -> bool:
    """Two names of one file, too."""
    return one.exists() and other.exists() and os.path.samefile(one, other)


def write_labels(
    file: IO[str],
    parts: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
    *,
    verbatim: bool = False,
) -> None:
    """Lines of id, label and confidence, from parts of such columns.

    Ids are text out of a file. One that a program for tables would take for a formula
    gets an apostrophe before it, unless ``verbatim``; on a terminal nothing is sent
    that is not printed.
    """
    file.write(",".join(LABEL_COLUMNS) + "\n")
    on_terminal = file.isatty()
    for ids, labels, confidence in parts:
        lines = label_lines(
            ids, labels, confidence, verbatim=verbatim, on_terminal=on_terminal
        )
        file.writelines(f"{line}\n" for line in lines)


def label_lines(
    ids: np.ndarray,
    labels: np.ndarray,
    confidence: np.ndarray,
    *,
    verbatim: bool,
    on_terminal: bool,
) -> Iterator[str]:
    """What ``write_labels`` writes of some rows."""
    names = ids.tolist()
    if not verbatim:
        names = [_harmless(name) for name in names]
    if on_terminal:
        names = [printable(str(name)) for name in names]
    lines = zip(names, labels.tolist(), confidence.tolist(), strict=True)
    return (f"{_cell(name)},{label},{sure:.6f}" for name, label, sure in lines)


def _cell(name: object) -> str:
    """A cell of a CSV file. Python's own writer leaves a carriage return bare."""
    text = str(name)
    if not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _harmless(name: object) -> object:
    if not isinstance(name, str) or not name.startswith(FORMULA) or _is_number(name):
        return name
    return f"'{name}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()


def write_record(path: Path, content: dict[str, Any]) -> None:
    """The record of a run as JSON, with a checksum of what it says."""
    plain = json.loads(json.dumps(content))  # as who reads it will see it
    sealed = {**plain, _CHECKSUM: _digest(plain)}
    path.write_text(
        json.dumps(sealed, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def unsealed(raw: bytes) -> dict[str, Any]:
    """What such a record says; ``ValueError`` if that is not what was written."""
    content = json.loads(raw)
    if not isinstance(content, dict):
        raise ValueError("it is no object")
    if content.pop(_CHECKSUM, None) != _digest(content):
        raise ValueError("its checksum is wrong or missing")
    return content


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
