"""One seed becomes named child seeds: each stage and each member has its own.

A child seed depends on the root seed and on its name alone, never on how many
others were asked for before it. That is why a member has the same weights whatever
the size of the ensemble and whichever members train beside it.
"""

from __future__ import annotations

import hashlib
import numbers
import secrets
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

RandomState = None | int | np.random.RandomState | np.random.Generator


def root_seed(random_state: RandomState) -> int:
    """The one number everything random in a fit is derived from.

    An integer is taken as it is, so that a fit with ``random_state=None`` can be
    repeated by passing its ``seed_``. None draws from the operating system: the
    global generators of numpy and torch are neither read nor changed.
    """
    if random_state is None:
        return secrets.randbits(31)
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise TypeError(
        f"random_state={random_state!r} must be an int, a numpy RandomState or "
        "Generator, or None."
    )


def child_seed(seed: int, *name: str | int) -> int:
    """A 63-bit seed for the part called ``name``, e.g. ``("landmarks", 3)``."""
    text = "/".join(str(part) for part in (seed, *name))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def generator(seed: int, *name: str | int) -> torch.Generator:
    """A torch generator on the CPU for the part called ``name``.

    Always on the CPU, so that a GPU starts from the same numbers.
    """
    import torch  # here: who asks for a seed alone need not wait for torch

    return torch.Generator().manual_seed(child_seed(seed, *name))
