"""Matrix products that do not depend on the number of threads."""

from __future__ import annotations

import torch

# Terms a product on the CPU may sum in one go. Longer sums are split among threads by
# the library's own rules, and the result then depends on how many threads there are
# and on how many members are in the stack. Up to here it does not.
_MAX_TERMS = 512


def product(
    left: torch.Tensor, right: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Batched matrix product (m, n, t) x (m, t, k), the same for any thread count."""
    n_terms = left.shape[2]
    if n_terms <= _MAX_TERMS or left.device.type != "cpu":
        return torch.bmm(left, right, out=out)
    out = torch.bmm(left[:, :, :_MAX_TERMS], right[:, :_MAX_TERMS], out=out)
    for start in range(_MAX_TERMS, n_terms, _MAX_TERMS):
        part = slice(start, start + _MAX_TERMS)
        out.baddbmm_(left[:, :, part], right[:, part])
    return out
