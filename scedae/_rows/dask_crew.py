"""The workers of a ``dask.distributed`` client, if there is one."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import dask.config
from distributed import Event, as_completed, get_client, secede

from scedae.exceptions import ClusterLostError, ScedaeError

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


@contextmanager
def in_touch(client: Any) -> Iterator[None]:
    """One clear error, at once, where the connection to the scheduler is lost.

    Dask cancels what was asked for; what is asked for from then on would only wait.
    """
    if client is not None and client.status != "running":
        raise _lost(f"the client is {client.status}")
    try:
        yield
    except ScedaeError:
        raise
    except Exception as error:
        is_gone = client is not None and client.status != "running"
        if is_gone or isinstance(error, CancelledError):
            raise _lost(error) from error
        raise


def _lost(reason: object) -> ClusterLostError:
    reason = str(reason).split("\n")[0].rstrip(".")
    return ClusterLostError(
        "the connection to Dask's scheduler was lost, and with it what the workers "
        f"held: {reason}. Fit again with a client of a cluster that runs; trainings "
        "that were finished are kept where checkpoint_dir says."
    )


class DaskCrew:
    """The workers of a client; see ``Crew``."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __len__(self) -> int:
        with in_touch(self._client):
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return max(len(workers), 1)

    def call(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        done: Callable[[int, Any], None],
    ) -> None:
        name = f"scedae-stop-{uuid.uuid4()}"
        with (
            in_touch(self._client),
            self._telling_to_stop(Event(name, self._client)),
            dask.config.set(QUIET),
        ):
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
            if self._client.status == "running":  # else nobody hears it
                event.set()
            raise


def _called(item: Any, *, function: Callable[..., Any], stop: str) -> Any:
    # It may wait for blocks that tasks of this very worker read. Dask lets them pass
    # where the thread of the call asks; one that loads rows for a GPU is not known.
    secede()
    return function(item, Event(stop).is_set)
