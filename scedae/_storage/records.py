"""Objects of JSON out of a file: every field is checked, and none may be left over."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Sequence
from typing import Any

from scedae.exceptions import ModelFileError

_REQUIRED: Any = object()
_LARGEST = 2**63 - 1


def plain_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says nothing twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


class Record:
    """An object that is read field by field.

    Every reading says what the field may be. A ``default`` makes it optional, so that
    files from before there was such a field can be read. ``finish`` refuses what was
    not asked for.
    """

    def __init__(self, content: object, place: str) -> None:
        if not isinstance(content, dict):
            raise ModelFileError(f"{place} is no object")
        self._left = dict(content)
        self._place = place

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, default: Any = _REQUIRED) -> Any:
        """A field as it is; whoever takes it checks it."""
        if name not in self._left and default is _REQUIRED:
            raise ModelFileError(f"{self._place} lacks {name!r}")
        return self._left.pop(name, default)

    def is_null(self, name: str) -> bool:
        """Whether a field says that there is nothing; it is then read."""
        if name not in self._left or self._left[name] is not None:
            return False
        del self._left[name]
        return True

    def wrong(self, name: str, value: object) -> ModelFileError:
        return ModelFileError(f"{self._place} has {name!r}: {reprlib.repr(value)}")

    def integer(
        self,
        name: str,
        least: int = 0,
        most: int = _LARGEST,
        default: Any = _REQUIRED,
    ) -> int:
        value = self.take(name, default)
        if not _is_integer(value, least, most):
            raise self.wrong(name, value)
        return value

    def integers(self, name: str, least: int = 0) -> tuple[int, ...]:
        values = self.items(name)
        if not all(_is_integer(value, least, _LARGEST) for value in values):
            raise self.wrong(name, values)
        return tuple(values)

    def number(
        self,
        name: str,
        least: float = -math.inf,
        most: float = math.inf,
        default: Any = _REQUIRED,
    ) -> float:
        """A finite number."""
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, value)
        if not math.isfinite(value) or not least <= value <= most:
            raise self.wrong(name, value)
        return float(value)

    def flag(self, name: str, default: Any = _REQUIRED) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, value)
        return value

    def text(self, name: str, default: Any = _REQUIRED) -> str:
        value = self.take(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, value)
        return value

    def choice(
        self, name: str, options: Collection[str], default: Any = _REQUIRED
    ) -> str:
        value = self.text(name, default)
        if value not in options:
            raise self.wrong(name, value)
        return value

    def items(self, name: str, default: Any = _REQUIRED) -> list[Any]:
        value = self.take(name, default)
        if not isinstance(value, list):
            raise self.wrong(name, value)
        return value

    def texts(self, name: str) -> list[str]:
        values = self.items(name)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(name, values)
        return values

    def record(self, name: str, default: Any = _REQUIRED) -> Record:
        return Record(self.take(name, default), f"{name!r}")

    def records(self, name: str, default: Any = _REQUIRED) -> list[Record]:
        items = self.items(name, default)
        return [Record(item, f"{name!r} {i}") for i, item in enumerate(items)]

    def finish(self) -> None:
        """An error if something is left that nobody asked for."""
        if self._left:
            raise ModelFileError(
                f"{self._place} has fields that this version does not know: "
                f"{reprlib.repr(sorted(self._left))}"
            )


def _is_integer(value: object, least: int, most: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return least <= value <= most
