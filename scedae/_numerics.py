"""Products and sums whose bits depend neither on a row's place nor on its company.

A matrix library takes other kernels for other shapes and for the ends of a matrix, and
they sum in other orders: a row could get another last bit beside other rows, one
member another one beside other members. Here every product on a CPU has heights and
widths that are multiples of one number, filled up with zeros, so no kernel ever meets
an end; and rows are treated in blocks of one fixed height. What is computed for a row
is then the same in ``fit`` and in ``predict``, alone or among millions. `make bits`
looks for exceptions on the processor at hand; docs/design.md says what it found.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from scedae._threads import share_out

# Heights, widths and inner lengths of products on a CPU are multiples of this: what a
# vector of 512 bits holds, and twice what most kernels take of rows at a time.
MULTIPLE = 16

# Terms a product on a CPU sums in one go. Longer sums are split among threads by the
# library's own rules, and would depend on how many threads there are.
_MAX_TERMS = 512

# Numbers that blocks must have together before they are worth sharing among threads.
_WORTH_SHARING = 1 << 20


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
    of members, and for any number of threads. ``out`` is for operands that need no
    padding.
    """
    _, height, n_terms = left.shape
    width = right.shape[2]
    fits = (height | n_terms | width) % MULTIPLE == 0
    if (fits and n_terms <= _MAX_TERMS) or not left.is_cpu:
        return torch.bmm(left, right, out=out)
    left, right = padded(left), padded(right)
    found = torch.bmm(left[:, :, :_MAX_TERMS], right[:, :_MAX_TERMS], out=out)
    for start in range(_MAX_TERMS, left.shape[2], _MAX_TERMS):
        part = slice(start, start + _MAX_TERMS)
        found.baddbmm_(left[:, :, part], right[:, part])
    return found[:, :height, :width]


def column_sums(
    matrices: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Sums over the rows of (m, n, k), of shape (m, 1, k), by one thread.

    Threads would share the columns, and the order of a sum depends on how many columns
    a thread has.
    """
    n_threads = torch.get_num_threads()
    if n_threads == 1:
        return torch.sum(matrices, 1, keepdim=True, out=out)
    torch.set_num_threads(1)
    try:
        return torch.sum(matrices, 1, keepdim=True, out=out)
    finally:
        torch.set_num_threads(n_threads)


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

    The last block is filled up with zero rows. Blocks are shared among the threads
    that the fit has.
    """

    def fill(start: int) -> None:
        block = rows[start : start + height]
        n_rows = len(block)
        if n_rows < height:
            filler = rows.new_zeros(height - n_rows, *rows.shape[1:])
            block = torch.cat([block, filler])
        out[start : start + n_rows] = kernel(block)[:n_rows]

    starts = range(0, len(rows), height)
    if rows.device.type != "cpu" or rows.numel() < _WORTH_SHARING:
        for start in starts:
            fill(start)
    else:
        share_out(fill, starts)
    return out
