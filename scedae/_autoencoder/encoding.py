"""Encode rows in blocks, and tell when a code says nothing."""

from __future__ import annotations

import torch

from scedae._autoencoder.network import Encoder
from scedae._numerics import LEAST_BLOCK, by_blocks, padded

# Rows of one block: enough for a product to run at full speed, few enough that a
# single new row does not wait for a padded crowd.
_BLOCK_ROWS = {"cpu": LEAST_BLOCK, "cuda": 8192}


@torch.no_grad()
def encode(encoder: Encoder, rows: torch.Tensor) -> torch.Tensor:
    """Codes of shape (n, encoding_dim), on the device of ``rows``."""
    width = encoder.encoding_dim
    codes = rows.new_empty(len(rows), width)
    if rows.is_cpu:
        encoder = _filled_up(encoder)

    def encoded(block: torch.Tensor) -> torch.Tensor:
        return encoder(block)[:, :width]

    return by_blocks(encoded, rows, codes, _BLOCK_ROWS[rows.device.type])


def _filled_up(encoder: Encoder) -> Encoder:
    """The same with layers as wide as products want them: once, not for each block."""
    return Encoder(
        tuple(
            (padded(weight), padded(bias[None])[0]) for weight, bias in encoder.layers
        )
    )


def is_collapsed(codes: torch.Tensor) -> bool:
    """Whether the codes say nothing: not finite, or the same for every row."""
    if not bool(torch.isfinite(codes).all()):
        return True
    spread = codes.std(0, correction=0).max()
    return bool(spread <= 1e-5 * codes.mean(0).abs().max() + 1e-12)
