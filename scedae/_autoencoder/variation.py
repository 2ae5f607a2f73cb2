"""How networks may differ from ours: for those who repeat what others published.

No estimator offers this. Where a variation is given, networks train by torch's own
operations; the fused kernels know ours alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from scedae._autoencoder.adam import EPSILON, Adam, Momentum


@dataclass(frozen=True)
class Variation:
    """What is other than usual; the defaults are what is usual."""

    epsilon: float = EPSILON  # of Adam
    code_slope: float | None = None  # of the code below zero (ReLU: 0); None: linear
    bias: bool = True
    # Beside a further objective: descent with this momentum in place of Adam.
    momentum: float | None = None

    def code(self, codes: torch.Tensor) -> torch.Tensor:
        """What the code layer does with its sums, in place."""
        if self.code_slope is None:
            return codes
        return torch.nn.functional.leaky_relu_(codes, self.code_slope)

    def code_gradient(self, delta: torch.Tensor, codes: torch.Tensor) -> None:
        """The gradient at those sums, in place."""
        if self.code_slope is not None:
            delta.mul_(torch.where(codes > 0, 1.0, self.code_slope))

    def pursuing(
        self, flat: torch.Tensor, gradient: torch.Tensor, rates: torch.Tensor
    ) -> Adam | Momentum:
        """The optimizer beside a further objective."""
        if self.momentum is None:
            return Adam(flat, gradient, rates, self.epsilon)
        return Momentum(flat, gradient, rates, self.momentum)


USUAL = Variation()
