"""The paper's tables and figures, run again and set beside what was published.

``run`` computes records and can be stopped and started at will; ``render`` makes
tables and figures of them. What is run, and why, is in ``paper.toml``.
"""

from typing import TYPE_CHECKING

from scedae._lazy import on_demand

if TYPE_CHECKING:
    from scedae.experiments.folder import RequestError
    from scedae.experiments.reporting import LogLines, Reporter, title
    from scedae.experiments.results.pages import render
    from scedae.experiments.runner import run
    from scedae.experiments.specification import NAMES, load_specification

__all__ = [
    "NAMES",
    "LogLines",
    "Reporter",
    "RequestError",
    "load_specification",
    "render",
    "run",
    "title",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "LogLines": "scedae.experiments.reporting",
        "NAMES": "scedae.experiments.specification",
        "Reporter": "scedae.experiments.reporting",
        "RequestError": "scedae.experiments.folder",
        "load_specification": "scedae.experiments.specification",
        "render": "scedae.experiments.results.pages",
        "run": "scedae.experiments.runner",
        "title": "scedae.experiments.reporting",
    },
)
