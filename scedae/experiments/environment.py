"""Where a run takes place, as its record says it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy
import scipy
import sklearn
import torch

from scedae._version import __version__


@cache
def versions() -> dict[str, str]:
    """Versions of everything that computes."""
    return {
        "scedae": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return str(device)


def circumstances(device: torch.device, n_rows: int, seconds: float) -> dict[str, Any]:
    """What every record ends with."""
    return {
        "rows": n_rows,
        "seconds": round(seconds, 3),
        "device": device_name(device),
        "versions": versions(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
