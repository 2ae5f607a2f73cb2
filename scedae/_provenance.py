"""Where a result comes from: versions, device and time, as every record says them."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version

import torch

from scedae._version import __version__


@cache
def versions() -> dict[str, str]:
    """Versions of everything that computes."""
    packages = ("torch", "numpy", "scipy", "scikit-learn")
    return {
        "scedae": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def device_name(device: str | torch.device) -> str:
    """The device that a name stands for on this machine, with the model of a GPU."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    found = torch.device(device)
    if found.type != "cuda":
        return "cpu"
    number = found.index or 0
    return f"cuda:{number} ({torch.cuda.get_device_name(number)})"


def now() -> str:
    """This moment in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
