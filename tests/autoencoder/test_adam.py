import pytest
import torch

from scedae._autoencoder.adam import BETA_1, BETA_2, EPSILON, Adam, learning_rates


def test_one_cycle_rises_then_falls_to_zero():
    rates = learning_rates(2e-3, "one-cycle", 100)
    assert int(rates.argmax()) in (24, 25)
    assert float(rates.max()) == pytest.approx(2e-3)
    assert (rates[:25].diff() > 0).all()
    assert (rates[25:].diff() < 0).all()
    assert float(rates[-1]) < 1e-5


def test_a_constant_rate_is_constant():
    assert learning_rates(2e-3, "constant", 5).unique().tolist() == [
        pytest.approx(2e-3)
    ]


def test_adam_by_the_book():
    generator = torch.Generator().manual_seed(0)
    flat = torch.randn(100, generator=generator)
    expected = flat.double()
    gradients = torch.randn(6, 100, generator=generator)
    rates = learning_rates(1e-2, "one-cycle", 6)
    gradient = torch.empty(100)
    adam = Adam(flat, gradient, rates)
    first = second = torch.zeros(100, dtype=torch.float64)
    for step, drawn in enumerate(gradients, 1):
        gradient.copy_(drawn)
        adam.step()
        first = BETA_1 * first + (1 - BETA_1) * drawn.double()
        second = BETA_2 * second + (1 - BETA_2) * drawn.double() ** 2
        mean, square = first / (1 - BETA_1**step), second / (1 - BETA_2**step)
        expected = expected - rates[step - 1] * mean / (square.sqrt() + EPSILON)
    torch.testing.assert_close(flat.double(), expected, atol=1e-7, rtol=1e-6)


def test_its_state_is_all_that_a_step_changes():
    flat, gradient = torch.zeros(8), torch.ones(8)
    adam = Adam(flat, gradient, torch.full((4,), 0.1))
    before = [tensor.clone() for tensor in adam.state()]
    adam.step()
    once = flat.clone()
    flat.zero_()
    for tensor, value in zip(adam.state(), before, strict=True):
        tensor.copy_(value)
    adam.step()
    assert torch.equal(flat, once)
