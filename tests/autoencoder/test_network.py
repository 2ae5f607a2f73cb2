from itertools import pairwise

import pytest
import torch

from scedae._autoencoder.network import (
    AutoencoderStack,
    glorot_uniform,
    layer_widths,
)
from scedae._autoencoder.variation import USUAL, Variation

CPU = torch.device("cpu")
BATCH = 11


def stack_of(
    hidden=((6, 5), (5, 6)), padded=(6, 6), bounded=True, d=7, e=3, variation=USUAL
):
    widths = [layer_widths(d, h, e) for h in hidden]
    generators = [torch.Generator().manual_seed(i) for i in range(len(hidden))]
    return AutoencoderStack(
        widths,
        layer_widths(d, padded, e),
        BATCH,
        generators,
        CPU,
        bounded=bounded,
        variation=variation,
    )


def batch_of(stack, rows):
    """Rows (m, BATCH, d) in the padded form that the stack takes."""
    batch = stack.batches(1)[0]
    stack.true_rows(batch, rows.shape[2]).copy_(rows)
    return batch


def test_widths_are_mirrored():
    assert layer_widths(9, (4, 6), 2) == (9, 4, 6, 2, 6, 4, 9)


def test_glorot_limits():
    weights = glorot_uniform((300, 200), torch.Generator().manual_seed(0))
    limit = (6 / 500) ** 0.5
    assert weights[0].abs().max() <= limit
    assert float(weights[0].std()) == pytest.approx(limit / 3**0.5, rel=0.02)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("slope", [None, 0.0, 0.3])
def test_gradients_equal_those_of_autograd(bounded, slope):
    stack = stack_of(bounded=bounded, variation=Variation(code_slope=slope))
    batch = torch.rand(2, BATCH, 7, generator=torch.Generator().manual_seed(1))
    taken = batch_of(stack, batch)
    activations = stack.forward(taken)
    loss, delta = stack.reconstruction_loss(activations[-1], taken)
    stack.backward(activations, delta)

    for member in range(2):
        widths = list(pairwise(layer_widths(7, (6, 6), 3)))
        layers = [
            (
                w[member, :n_in, :n_out].clone().requires_grad_(),
                b[member, 0, :n_out].clone().requires_grad_(),
            )
            for (w, b), (n_in, n_out) in zip(stack.layers, widths, strict=True)
        ]
        hidden = batch[member]
        for i, (weight, bias) in enumerate(layers):
            hidden = hidden @ weight + bias
            if i not in (2, 5):  # the encoding and the output are linear
                hidden = hidden.relu()
            if i == 2 and slope is not None:
                hidden = torch.nn.functional.leaky_relu(hidden, slope)
        if bounded:
            expected = torch.nn.functional.binary_cross_entropy(
                hidden.sigmoid(), batch[member]
            )
        else:
            expected = torch.nn.functional.mse_loss(hidden, batch[member])
        expected.backward()
        torch.testing.assert_close(loss[member], expected.detach())
        for (weight, bias), (dw, db) in zip(layers, stack._gradients, strict=True):
            n_in, n_out = weight.shape
            found = dw[member, :n_in, :n_out], db[member, 0, :n_out]
            for mine, expected in zip(found, (weight.grad, bias.grad), strict=True):
                torch.testing.assert_close(mine, expected, atol=1e-7, rtol=1e-4)
            assert not dw[member, n_in:].any() and not dw[member, :, n_out:].any()


def test_padding_stays_zero():
    stack = stack_of()
    batch = batch_of(stack, torch.rand(2, BATCH, 7))
    activations = stack.forward(batch)
    stack.backward(activations, stack.reconstruction_loss(activations[-1], batch)[1])
    first_weights, first_gradients = stack.layers[0][0], stack._gradients[0][0]
    assert not first_weights[1, :, 5:].any()  # the second member is 5 wide there
    assert not first_gradients[1, :, 5:].any()


def test_an_encoder_is_its_slice_of_the_stack():
    stack = stack_of()
    batch = torch.rand(2, BATCH, 7)
    codes = stack.true_rows(stack.forward(batch_of(stack, batch))[3], 3)
    for member in range(2):
        encoder = stack.encoder(member)
        assert [w.shape[1] for w, _ in encoder.layers][:2] == list(
            ((6, 5), (5, 6))[member]
        )
        torch.testing.assert_close(encoder(batch[member]), codes[member])


def test_an_encoder_is_a_copy():
    stack = stack_of()
    encoder = stack.encoder(0)
    before = encoder.layers[0][0].clone()
    stack.flat.zero_()
    assert torch.equal(encoder.layers[0][0], before)
