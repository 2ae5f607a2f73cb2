"""Encode rows in blocks, and tell when a code says nothing."""

from __future__ import annotations

import torch

from scedae._autoencoder.network import Encoder
from scedae._numerics import LEAST_BLOCK, by_blocks

# Rows of one block: enough for a product to run at full speed, few enough that a
# single new row does not wait for a padded crowd.
_BLOCK_ROWS = {"cpu": LEAST_BLOCK, "cuda": 8192}


@torch.no_grad()
def encode(encoder: Encoder, rows: torch.Tensor) -> torch.Tensor:
    """Codes of shape (n, encoding_dim), on the device of ``rows``."""
    codes = rows.new_empty(len(rows), encoder.encoding_dim)
    return by_blocks(encoder, rows, codes, _BLOCK_ROWS[rows.device.type])


def is_collapsed(codes: torch.Tensor) -> bool:
    """Whether the codes say nothing: not finite, or the same for every row."""
    if not bool(torch.isfinite(codes).all()):
        return True
    spread = codes.std(0, correction=0).max()
    return bool(spread <= 1e-5 * codes.mean(0).abs().max() + 1e-12)
