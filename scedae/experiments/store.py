"""Records on disk: one line each, appended, with a checksum.

A line is complete or it is not there: what a killed process left behind has no end of
line or no valid checksum, and is cut off before the next record is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from scedae.experiments.plan import PaperRun

Record = dict[str, Any]


class Store:
    """The records of one output folder, a file for each experiment and data set."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "records"
        self._lock = threading.Lock()
        self._mended: set[Path] = set()

    def append(self, record: Record) -> None:
        """Write one record, in one piece."""
        path = self._folder / f"{record['experiment']}-{record['data']}.jsonl"
        with self._lock:
            self._mend(path)
            with path.open("ab", buffering=0) as file:
                _append_whole(file, _line(record))

    def records(self) -> Iterator[Record]:
        """All complete records."""
        for path in sorted(self._folder.glob("*.jsonl")):
            # What stands behind the last end of a line was never finished.
            for line in path.read_bytes().split(b"\n")[:-1]:
                record = _parse(line)
                if record is not None:
                    yield record

    def finished(self) -> set[str]:
        """Keys of the runs that have a record."""
        return {PaperRun.of(record).key for record in self.records()}

    def _mend(self, path: Path) -> None:
        """Once a file: cut off a line that was never finished."""
        if path in self._mended:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            content = path.read_bytes()
            complete = content.rfind(b"\n") + 1
            if complete < len(content):
                os.truncate(path, complete)
        self._mended.add(path)


def _append_whole(file: FileIO, line: bytes) -> None:
    """All of a line, on the disk; or none of it, and an error."""
    size = os.fstat(file.fileno()).st_size
    try:
        written = 0
        while written < len(line):  # a disk that is nearly full takes a part
            written += file.write(line[written:])
        os.fsync(file.fileno())
    except BaseException:
        os.ftruncate(file.fileno(), size)
        raise


def _line(record: Record) -> bytes:
    text = _canonical(record)
    return f'{text[:-1]},"check":"{_check(text)}"}}\n'.encode()


def _canonical(record: Record) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def _check(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _parse(line: bytes) -> Record | None:
    """The record of a line, or None when the line is not whole."""
    try:
        record = json.loads(line)
        check = record.pop("check")
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return record if check == _check(_canonical(record)) else None
