"""Walk over rows in blocks of one fixed height.

A matrix product of another height may sum in another order, so a row could get a
slightly different result in another company. Here every block has the same height,
the last one filled up with zero rows: what is computed for a row is then the same
bit for bit in fit and in predict, alone or among millions.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch


def fixed_blocks(
    rows: torch.Tensor, height: int
) -> Iterator[tuple[slice, torch.Tensor]]:
    """Pairs of a slice of ``rows`` and its block of exactly ``height`` rows."""
    for start in range(0, len(rows), height):
        block = rows[start : start + height]
        where = slice(start, start + len(block))
        if len(block) < height:
            filler = rows.new_zeros(height - len(block), *rows.shape[1:])
            block = torch.cat([block, filler])
        yield where, block


def length(where: slice) -> int:
    return int(where.stop - where.start)
