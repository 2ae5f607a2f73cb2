"""One self-contained HTML page about a fitted model: collect → draw → render.

Needs jinja2 (``pip install scedae[report]``), which importing ``scedae`` does not.
"""

from scedae.report.showing import show
from scedae.report.write import write_report

__all__ = ["show", "write_report"]
