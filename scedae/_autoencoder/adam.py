"""Adam on one flat tensor, at a rate that may differ from step to step; and SGD."""

from __future__ import annotations

import math

import torch

SCHEDULES = ("one-cycle", "constant")

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def learning_rates(rate: float, schedule: str, n_steps: int) -> torch.Tensor:
    """The rate of every step.

    One cycle rises linearly over the first quarter and falls to zero along a cosine:
    it reaches the same codes in a fraction of the steps of a constant rate.
    """
    if schedule == "constant":
        return torch.full((n_steps,), rate, dtype=torch.float32)
    step = torch.arange(n_steps, dtype=torch.float64)
    rise = max(n_steps // 4, 1)
    fall = (1 + torch.cos(math.pi * (step - rise) / max(n_steps - rise, 1))) / 2
    shape = torch.where(step < rise, (step + 1) / rise, fall)
    return (rate * shape).float()


class Adam:
    """The update of ``flat`` by ``gradient``, with torch's own fused kernel.

    The kernel is called directly: ``torch.optim`` would import torch's compiler for
    over a second on first use, and its bookkeeping takes longer than the arithmetic
    of a small network. Step and rate are tensors, so that a recorded step means the
    next step each time it is replayed.
    """

    def __init__(
        self,
        flat: torch.Tensor,
        gradient: torch.Tensor,
        rates: torch.Tensor,
        epsilon: float = EPSILON,
    ) -> None:
        self._flat, self._gradient, self._epsilon = flat, gradient, epsilon
        self._first, self._second = torch.zeros_like(flat), torch.zeros_like(flat)
        self._rates = rates.to(flat.device)
        self._n_done = torch.zeros(1, dtype=torch.long, device=flat.device)
        self._count = torch.zeros((), dtype=torch.float32, device=flat.device)

    def step(self) -> None:
        rate = self._rates.index_select(0, self._n_done)[0]
        self._n_done += 1
        self._count += 1
        torch._fused_adam_(
            [self._flat],
            [self._gradient],
            [self._first],
            [self._second],
            [],
            [self._count],
            lr=rate,
            beta1=BETA_1,
            beta2=BETA_2,
            weight_decay=0.0,
            eps=self._epsilon,
            amsgrad=False,
            maximize=False,
        )

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes, apart from ``flat`` itself."""
        return [self._first, self._second, self._n_done, self._count]


class Momentum:
    """Gradient descent with momentum, for methods that were published with it."""

    def __init__(
        self,
        flat: torch.Tensor,
        gradient: torch.Tensor,
        rates: torch.Tensor,
        momentum: float,
    ) -> None:
        self._flat, self._gradient, self._momentum = flat, gradient, momentum
        self._speed = torch.zeros_like(flat)
        self._rates = rates.to(flat.device)
        self._n_done = torch.zeros(1, dtype=torch.long, device=flat.device)

    def step(self) -> None:
        rate = self._rates.index_select(0, self._n_done)[0]
        self._n_done += 1
        self._speed.mul_(self._momentum).sub_(rate * self._gradient)
        self._flat.add_(self._speed)

    def state(self) -> list[torch.Tensor]:
        """Every tensor that a step changes, apart from ``flat`` itself."""
        return [self._speed, self._n_done]
