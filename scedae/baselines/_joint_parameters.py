"""What DCN, IDEC and DKM accept."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from scedae._constraints import Interval
from scedae._shell.networks import AUTOENCODER_CONSTRAINTS

_FROM_ONE = Interval(Integral, 1, None, closed="left")

JOINT_CONSTRAINTS: dict[str, list[Any]] = {
    **{k: v for k, v in AUTOENCODER_CONSTRAINTS.items() if k != "schedule"},
    "pretrain": ["boolean"],
    "pretrain_epochs": [_FROM_ONE],
    "epochs": [_FROM_ONE],
    "clustering_weight": [Interval(Real, 0, None, closed="left")],
}
