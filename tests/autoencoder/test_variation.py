"""Networks that are other than ours, held against torch's own."""

import pytest
import torch

from scedae._autoencoder import Variation
from scedae._autoencoder.adam import Adam, Momentum


def descend(make, optimizer, n=5):
    """The same gradients for ours and for torch's; parameters at the end."""
    start = torch.linspace(-1, 1, 1024)
    flat, gradient = start.clone(), torch.zeros(1024)
    ours = make(flat, gradient, torch.full((n,), 0.1))
    theirs = start.clone().requires_grad_()
    reference = optimizer([theirs])
    random = torch.Generator().manual_seed(0)
    for _ in range(n):
        step = torch.randn(1024, generator=random)
        gradient.copy_(step)
        ours.step()
        theirs.grad = step
        reference.step()
    return flat, theirs.detach()


@pytest.mark.parametrize(
    ("variation", "optimizer"),
    [
        (Variation(momentum=0.9), lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
        (Variation(epsilon=0.5), lambda p: torch.optim.Adam(p, 0.1, eps=0.5)),
        (Variation(), lambda p: torch.optim.Adam(p, 0.1)),
    ],
)
def test_optimizers_beside_an_objective(variation, optimizer):
    ours, theirs = descend(variation.pursuing, optimizer)
    torch.testing.assert_close(ours, theirs)


def test_momentum_is_for_the_objective_alone():
    """Pretraining is Adam's in all of the published programs."""
    tensors = torch.zeros(8), torch.zeros(8), torch.ones(1)
    assert isinstance(Variation(momentum=0.9).pursuing(*tensors), Momentum)
    assert isinstance(Variation().pursuing(*tensors), Adam)
