"""What every record of an experiment ends with."""

from __future__ import annotations

from typing import Any

import torch

from scedae._provenance import device_name, now, versions


def circumstances(device: torch.device, n_rows: int, seconds: float) -> dict[str, Any]:
    """Rows, time, and where the run took place."""
    return {
        "rows": n_rows,
        "seconds": round(seconds, 3),
        "device": device_name(device),
        "versions": versions(),
        "created": now(),
    }
