"""Products whose bits depend neither on a row's place nor on company nor on threads.

A matrix library takes other kernels for other shapes and for the ends of a matrix, and
they sum in other orders. So a row could get another last bit beside other rows, one
member another one beside other members, and all of them with another number of threads.
Three rules keep that away, on a CPU:

- Heights and widths are multiples of one number, filled up with zeros: no kernel meets
  an end.
- Rows come in blocks of one fixed height, the last filled up with zeros: a row meets
  the same kernel in ``fit`` and in ``predict``, alone and among millions.
- A large product is cut into tiles by its shape alone. Helpers share the tiles, and
  torch itself has one thread (``_threads``): no sum is ever shared.

`make bits` looks for exceptions on the processor at hand; docs/design.md has the story.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as pairs

import torch

from scedae._threads import share_out

# Heights, widths and inner lengths are multiples of this: what a vector of 512 bits
# holds in single precision.
MULTIPLE = 16

# Terms a product sums in one go. A library may split longer sums by rules of its own.
_MOST_TERMS = 512

# Multiplications of a product that is cut into tiles, and their height and width.
_LARGE_PRODUCT = 1 << 26
_TILE = (384, 512)

# The least height of a block: a multiple of the rows that kernels take at a time, which
# are 24 or 48 in some, and powers of two in others.
LEAST_BLOCK = 384

# Numbers that blocks must have together before they are worth sharing.
_MANY_NUMBERS = 1 << 20


def round_up(length: int) -> int:
    """The next multiple of ``MULTIPLE``."""
    return -(-length // MULTIPLE) * MULTIPLE


def padded(matrices: torch.Tensor) -> torch.Tensor:
    """Matrices (…, n, k) filled up with zeros to rounded heights and widths."""
    *more, height, width = matrices.shape
    if height % MULTIPLE == 0 == width % MULTIPLE:
        return matrices
    filled = matrices.new_zeros(*more, round_up(height), round_up(width))
    filled[..., :height, :width] = matrices
    return filled


def product(
    left: torch.Tensor, right: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Batched matrix product (m, n, t) x (m, t, k).

    The same for a member whatever the number of members, and for any number of helpers.
    ``out`` is for operands that need no padding.
    """
    if not left.is_cpu:
        return torch.bmm(left, right, out=out)
    _, height, n_terms = left.shape
    width = right.shape[2]
    if (height | n_terms | width) % MULTIPLE:
        left, right = padded(left), padded(right)
    if height * n_terms * width < _LARGE_PRODUCT:
        found = _summed(left, right, out)
    else:
        found = _tiled(left, right, out)
    return found if found.shape[1:] == (height, width) else found[:, :height, :width]


def _summed(
    left: torch.Tensor, right: torch.Tensor, out: torch.Tensor | None
) -> torch.Tensor:
    n_terms = left.shape[2]
    if n_terms <= _MOST_TERMS:
        return torch.bmm(left, right, out=out)
    out = torch.bmm(left[:, :, :_MOST_TERMS], right[:, :_MOST_TERMS], out=out)
    for start in range(_MOST_TERMS, n_terms, _MOST_TERMS):
        part = slice(start, start + _MOST_TERMS)
        out.baddbmm_(left[:, :, part], right[:, part])
    return out


def _tiled(
    left: torch.Tensor, right: torch.Tensor, out: torch.Tensor | None
) -> torch.Tensor:
    """The same, tile after tile or by helpers; members one by one."""
    n_members, height, width = *left.shape[:2], right.shape[2]
    tall, wide = _TILE
    found = left.new_empty(n_members, height, width) if out is None else out

    def fill(corner: tuple[int, int, int]) -> None:
        member, row, column = corner
        one = slice(member, member + 1)
        rows, columns = slice(row, row + tall), slice(column, column + wide)
        tile = found[one, rows, columns]
        _summed(left[one, rows], right[one, :, columns], tile)

    corners = pairs(range(n_members), range(0, height, tall), range(0, width, wide))
    share_out(fill, list(corners))
    return found


def column_sums(
    matrices: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Sums over the rows of (m, n, k), of shape (m, 1, k); each member by itself."""
    return torch.sum(matrices, 1, keepdim=True, out=out)


def lengths(rows: torch.Tensor) -> torch.Tensor:
    """Euclidean length of each row of (n, k), of shape (n, 1); each row by itself."""
    return rows.square().sum(1, keepdim=True).sqrt_()


def by_blocks(
    kernel: Callable[[torch.Tensor], torch.Tensor],
    rows: torch.Tensor,
    out: torch.Tensor,
    height: int = LEAST_BLOCK,
) -> torch.Tensor:
    """Fill ``out`` with what the kernel makes of blocks of exactly ``height`` rows.

    The last block is filled up with zero rows. Many blocks are shared out.
    """

    def fill(start: int) -> None:
        block = rows[start : start + height].contiguous()  # the last one will be
        n_rows = len(block)
        if n_rows < height:
            filler = rows.new_zeros(height - n_rows, *rows.shape[1:])
            block = torch.cat([block, filler])
        out[start : start + n_rows] = kernel(block)[:n_rows]

    starts = range(0, len(rows), height)
    if rows.is_cpu and rows.numel() >= _MANY_NUMBERS:
        share_out(fill, starts)
    else:
        for start in starts:
            fill(start)
    return out


def times(rows: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Product of (n, t) rows with a (t, k) matrix; each row by itself."""

    def multiplied(block: torch.Tensor) -> torch.Tensor:
        return product(block[None], matrix[None])[0]

    height = LEAST_BLOCK if rows.is_cpu else 1 << 14
    return by_blocks(
        multiplied, rows, rows.new_empty(len(rows), matrix.shape[1]), height
    )
