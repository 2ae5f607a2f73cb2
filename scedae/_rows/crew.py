"""Workers that take calls: what an ensemble needs to train in several places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Crew(Protocol):
    """Somebody else's processes, perhaps on other machines."""

    def __len__(self) -> int: ...

    def call(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        done: Callable[[int, Any], None],
    ) -> None:
        """``function(item, should_stop)`` for each item, somewhere.

        ``done`` is told the number of an item and its result, as they come. A call
        whose worker dies is made again. When something fails here, the calls that
        are under way are told to stop.
        """
