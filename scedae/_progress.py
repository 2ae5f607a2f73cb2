"""One live line for a whole fit: stage, detail, share done, time left."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any

logger = logging.getLogger("scedae")

_BAR_WIDTH = 24
_REDRAW_SECONDS = 0.1
# A line that nobody advances is drawn again after so long: its clock shows that the
# work goes on.
_PULSE_SECONDS = 1.0

# What stages take of the whole, about; those that a fit has not are left out.
_NETWORKS_ONLY = {"encode": 0.95, "assign": 0.05}
_IN_MEMORY = {"encode": 0.7, "anchor": 0.2, "fuse": 0.02, "embed": 0.05, "assign": 0.03}
_STREAMED = {
    "encode": 0.4,
    "anchor": 0.05,
    "fuse": 0.25,
    "embed": 0.03,
    "assign": 0.02,
    "label": 0.25,
}
_COUNT = 0.3
_REFINE = 0.4
# Members on the rows alone have nothing to train.
_NO_TRAINING = 0.05
# To look at the rows alone first, before networks, and where they are enough.
_ROWS_FIRST, _ROWS_ONLY = 0.1, 0.5


def shares_of_stages(
    *,
    trains: bool,
    counts: bool,
    refines: bool,
    in_memory: bool,
    rows_first: bool = False,
) -> dict[str, float]:
    """What each stage of a spectral fit takes of it."""
    shares = dict(_IN_MEMORY if in_memory else _STREAMED)
    if rows_first:
        shares["near rows"] = _ROWS_FIRST if trains else _ROWS_ONLY
    if not trains:
        shares["encode"] = _NO_TRAINING
    if counts:
        shares["count"] = _COUNT
    if refines:
        shares["refine"] = _REFINE
    return shares


class Progress:
    """Adds up parts of the stages of some work, and shows them when ``verbose``.

    On a terminal the line is redrawn in place on standard error, in a notebook in its
    cell. In a log file each tenth of the work is one line. Stages go to the logger
    ``scedae`` in any case. Inside ``one_bar`` that bar is used.
    """

    def __init__(self, verbose: int | bool = 0) -> None:
        self._verbose = bool(verbose)
        self._cell = _notebook_cell() if self._verbose else None
        self._on_terminal = self._verbose and sys.stderr.isatty()
        self._live = self._on_terminal or self._cell is not None
        self._started = time.perf_counter()
        self._drawn, self._tenths = 0.0, 0
        self._shares, self._beside = dict(_NETWORKS_ONLY), dict[str, float]()
        self._past, self._part = 0.0, 0.0  # of the whole; of the stage that is on
        self._stage, self._detail = "", ""
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._around: Progress | None = None

    def __enter__(self) -> Progress:
        self._around = _BAR.get()
        if self._around is not None:
            return self._around
        if self._on_terminal and self._cell is None:
            threading.Thread(target=self._pulse, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._around is not None:
            return
        with self._lock:
            self._ended.set()
            if kind is None and self._verbose:
                self._past, self._part = 1.0, 0.0
                self._show(f"done in {self._elapsed():.1f} s")
            if self._live and self._cell is None:
                sys.stderr.write("\n")

    def plan(self, shares: Mapping[str, float]) -> None:
        """Which stages there will be, and what each takes beside the others."""
        whole = sum(shares.values())
        self._shares = {name: share / whole for name, share in shares.items()}
        self._shares.update(self._beside)

    def stage(self, name: str) -> None:
        """A new verb begins, and the one before is done."""
        logger.info("%s (%.1f s after the start)", name, self._elapsed())
        with self._lock:
            self._past += self._share()
            self._stage, self._part = name, 0.0
        self.advance(0, "")

    def advance(self, part: float, detail: str) -> None:
        """``part`` more of this stage is done."""
        with self._lock:
            self._part = min(self._part + part, 1.0)
            self._detail = detail
            now, tenths = time.perf_counter(), int(10 * self._done())
            if self._live and now - self._drawn >= _REDRAW_SECONDS:
                self._show(detail)
            elif self._verbose and not self._live and tenths > self._tenths:
                self._tenths = tenths
                self._show(detail)

    def _share(self) -> float:
        """What this stage takes of the whole."""
        return self._shares.get(self._stage, 0.0) / sum(self._shares.values())

    def _done(self) -> float:
        return min(self._past + self._part * self._share(), 1.0)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _pulse(self) -> None:
        while not self._ended.wait(_PULSE_SECONDS):
            with self._lock:
                idle = time.perf_counter() - self._drawn >= _PULSE_SECONDS
                if idle and self._stage and not self._ended.is_set():
                    self._show(self._detail)

    def _show(self, detail: str) -> None:
        self._drawn = time.perf_counter()
        share = self._done()
        full = round(share * _BAR_WIDTH)
        bar = "█" * full + "░" * (_BAR_WIDTH - full)
        words = [detail] if detail else []
        if 0 < share < 1:
            elapsed = self._elapsed()
            left = elapsed * (1 - share) / share
            words += [f"{_clock(elapsed)} so far", f"{_clock(left)} left"]
        line = f"{bar} {share:4.0%}  {self._stage}  {', '.join(words)}"
        if self._cell is not None:
            self._cell.update({"text/plain": line}, raw=True)
            return
        sys.stderr.write(f"\r\x1b[2K{line}" if self._live else f"{line}\n")
        sys.stderr.flush()


# The bar of a piece of work that a fit is only a part of.
_BAR: ContextVar[Progress | None] = ContextVar("scedae bar", default=None)


@contextmanager
def one_bar(verbose: int | bool, beside: Mapping[str, float]) -> Iterator[Progress]:
    """A bar for a fit and for stages before and after it.

    ``beside`` has what those take, where the fit takes 1.
    """
    with Progress(verbose) as progress:
        progress._beside = dict(beside)
        progress.plan(_NETWORKS_ONLY)
        token = _BAR.set(progress)
        try:
            yield progress
        finally:
            _BAR.reset(token)


def _notebook_cell() -> Any:
    """A place in the cell of a notebook that can be written again; None elsewhere."""
    # Whoever runs in a notebook has imported its kernel.
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display

    if getattr(get_ipython(), "kernel", None) is None:
        return None
    return display({"text/plain": ""}, raw=True, display_id=True)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}"
