"""The workers of a ``dask.distributed`` client, if there is one."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask.config
from distributed import Event, as_completed, get_client

# Attempts after the first: at reading a block, and at a call that failed.
RETRIES = 2

# Models are part of the tasks, so that no worker's death can lose them; Dask would
# warn that they are large.
QUIET = {"distributed.admin.large-graph-warning-threshold": "10GB"}


def current_client() -> Any:
    """The client whose workers Dask would use now, also inside a worker."""
    try:
        return get_client()
    except ValueError:
        return None


def options() -> dict[str, Any]:
    return {} if current_client() is None else {"retries": RETRIES}


class DaskCrew:
    """The workers of a client; see ``Crew``."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __len__(self) -> int:
        return max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)

    def call(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        done: Callable[[int, Any], None],
    ) -> None:
        name = f"scedae-stop-{uuid.uuid4()}"
        with self._telling_to_stop(Event(name, self._client)), dask.config.set(QUIET):
            futures = self._client.map(
                _called,
                items,
                function=function,
                stop=name,
                retries=RETRIES,
                pure=False,
            )
            numbers = {future: number for number, future in enumerate(futures)}
            for future in as_completed(futures):
                done(numbers[future], future.result())

    @contextmanager
    def _telling_to_stop(self, event: Any) -> Iterator[None]:
        event.clear()
        try:
            yield
        except BaseException:
            event.set()
            raise


def _called(item: Any, *, function: Callable[..., Any], stop: str) -> Any:
    return function(item, Event(stop).is_set)
