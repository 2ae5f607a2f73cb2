"""Products and sums whose bits depend neither on a row's place nor on its company.

A matrix library takes other kernels for other shapes and for the ends of a matrix, and
they sum in other orders: a row could get another last bit beside other rows, one
member another one beside other members. Here every product on a CPU has heights and
widths that are multiples of one number, filled up with zeros, so no kernel ever meets
an end; and rows are treated in blocks of one fixed height. What is computed for a row
is then the same in ``fit`` and in ``predict``, alone or among millions. Torch has one
thread here (``_threads``). `make bits` looks for exceptions on the processor at hand;
docs/design.md says what it found.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from scedae._threads import n_helpers, share_out

# Heights, widths and inner lengths of products on a CPU are multiples of this: what a
# vector of 512 bits holds, and twice what most kernels take of rows at a time.
MULTIPLE = 16

# Terms a product sums in one go. A library may split longer sums by rules of its own.
_MOST_TERMS = 512

# Multiplications of a product that is worth sharing, and the fewest rows of a part.
_LARGE_PRODUCT = 1 << 24
_FEWEST_ROWS = 64

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

    The same for a row wherever it stands in ``left``, for a member whatever the number
    of members, and for any number of helpers. ``out`` is for operands that need no
    padding.
    """
    if not left.is_cpu:
        return torch.bmm(left, right, out=out)
    n_members, height, n_terms = left.shape
    width = right.shape[2]
    if (height | n_terms | width) % MULTIPLE:
        left, right = padded(left), padded(right)
    work = n_members * height * n_terms * width
    if work < _LARGE_PRODUCT or n_helpers() == 1:
        found = _summed(left, right, out)
    else:
        found = _shared(left, right, out)
    return found[:, :height, :width] if found.shape[1:] != (height, width) else found


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


def _shared(
    left: torch.Tensor, right: torch.Tensor, out: torch.Tensor | None
) -> torch.Tensor:
    """The same, with some rows for each helper."""
    n_members, height, _ = left.shape
    if out is None:
        out = left.new_empty(n_members, height, right.shape[2])
    rows = max(round_up(-(-height // n_helpers())), _FEWEST_ROWS)

    def fill(start: int) -> None:
        part = slice(start, start + rows)
        _summed(left[:, part], right, out[:, part])

    share_out(fill, range(0, height, rows))
    return out


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
    height: int,
    out: torch.Tensor,
) -> torch.Tensor:
    """Fill ``out`` with what the kernel makes of blocks of exactly ``height`` rows.

    The last block is filled up with zero rows. Many blocks are shared out.
    """

    def fill(start: int) -> None:
        block = rows[start : start + height]
        n_rows = len(block)
        if n_rows < height:
            filler = rows.new_zeros(height - n_rows, *rows.shape[1:])
            block = torch.cat([block, filler])
        out[start : start + n_rows] = kernel(block)[:n_rows]

    starts = range(0, len(rows), height)
    if rows.device.type != "cpu" or rows.numel() < _MANY_NUMBERS:
        for start in starts:
            fill(start)
    else:
        share_out(fill, starts)
    return out
