"""The paper's tables and figures, run again and set beside what was published.

``run`` computes records and can be stopped and started at will; ``render`` makes
tables and figures of them. What is run, and why, is in ``paper.toml``.
"""

from scedae.experiments.folder import RequestError
from scedae.experiments.plan import NAMES
from scedae.experiments.progress import LogLines, Reporter, title
from scedae.experiments.results.render import render
from scedae.experiments.runner import run
from scedae.experiments.specification import load_specification

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
