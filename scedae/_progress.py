"""One live line for a whole fit: stage, detail, share done, time left."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import Any

logger = logging.getLogger("scedae")

_BAR_WIDTH = 24
_REDRAW_SECONDS = 0.1


class Progress:
    """Adds up shares of the whole work, and shows them when ``verbose``.

    On a terminal the line is redrawn in place on standard error, in a notebook in its
    cell. In a log file each tenth of the work is one line. Stages go to the logger
    ``scedae`` in any case.
    """

    def __init__(self, verbose: int | bool = 0) -> None:
        self._verbose = bool(verbose)
        self._cell = _notebook_cell() if self._verbose else None
        on_terminal = self._verbose and sys.stderr.isatty()
        self._live = on_terminal or self._cell is not None
        self._started = time.perf_counter()
        self._drawn = 0.0
        self._tenths = 0
        self._done = 0.0
        self._stage = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._verbose:
            self._done = 1.0
            self._show(f"done in {self._elapsed():.1f} s")
        if self._live and self._cell is None:
            sys.stderr.write("\n")

    def stage(self, name: str) -> None:
        """A new verb begins."""
        logger.info("%s (%.1f s after the start)", name, self._elapsed())
        self._stage = name
        self.advance(0, "")

    def advance(self, share: float, detail: str) -> None:
        """``share`` more of the whole work is done."""
        self._done += share
        now = time.perf_counter()
        tenths = int(10 * min(self._done, 1))
        if self._live and now - self._drawn >= _REDRAW_SECONDS:
            self._drawn = now
            self._show(detail)
        elif self._verbose and not self._live and tenths > self._tenths:
            self._tenths = tenths
            self._show(detail)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _show(self, detail: str) -> None:
        share = min(self._done, 1.0)
        full = round(share * _BAR_WIDTH)
        bar = "█" * full + "░" * (_BAR_WIDTH - full)
        left = ""
        if 0 < share < 1:
            left = f", {_clock(self._elapsed() * (1 - share) / share)} left"
        line = f"{bar} {share:4.0%}  {self._stage}  {detail}{left}"
        if self._cell is not None:
            self._cell.update({"text/plain": line}, raw=True)
            return
        sys.stderr.write(f"\r\x1b[2K{line}" if self._live else f"{line}\n")
        sys.stderr.flush()


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
