import pytest
import torch

from scedae.autoencoder.network import (
    AutoencoderStack,
    glorot_uniform,
    layer_widths,
    product,
)

CPU = torch.device("cpu")


def stack_of(hidden=((6, 5), (5, 6)), padded=(6, 6), bounded=True, d=7, e=3):
    widths = [layer_widths(d, h, e) for h in hidden]
    generators = [torch.Generator().manual_seed(i) for i in range(len(hidden))]
    return AutoencoderStack(
        widths, layer_widths(d, padded, e), generators, CPU, bounded=bounded
    )


def test_widths_are_mirrored():
    assert layer_widths(9, (4, 6), 2) == (9, 4, 6, 2, 6, 4, 9)


def test_glorot_limits():
    weights = glorot_uniform((300, 200), torch.Generator().manual_seed(0))
    limit = (6 / 500) ** 0.5
    assert weights[0].abs().max() <= limit
    assert float(weights[0].std()) == pytest.approx(limit / 3**0.5, rel=0.02)


@pytest.mark.parametrize("bounded", [True, False])
def test_gradients_equal_those_of_autograd(bounded):
    stack = stack_of(bounded=bounded)
    batch = torch.rand(2, 11, 7, generator=torch.Generator().manual_seed(1))
    activations = stack.forward(batch)
    loss, delta = stack.reconstruction_loss(activations[-1], batch)
    stack.backward(activations, delta)

    for member in range(2):
        layers = [
            (w[member].clone().requires_grad_(), b[member, 0].clone().requires_grad_())
            for w, b in stack.layers
        ]
        hidden = batch[member]
        for i, (weight, bias) in enumerate(layers):
            hidden = hidden @ weight + bias
            if i not in (2, 5):  # the encoding and the output are linear
                hidden = hidden.relu()
        if bounded:
            expected = torch.nn.functional.binary_cross_entropy(
                hidden.sigmoid(), batch[member]
            )
        else:
            expected = torch.nn.functional.mse_loss(hidden, batch[member])
        expected.backward()
        torch.testing.assert_close(loss[member], expected.detach())
        for (weight, bias), (dw, db) in zip(layers, stack._gradients, strict=True):
            torch.testing.assert_close(dw[member], weight.grad, atol=1e-7, rtol=1e-4)
            torch.testing.assert_close(db[member, 0], bias.grad, atol=1e-7, rtol=1e-4)


def test_padding_stays_zero():
    stack = stack_of()
    batch = torch.rand(2, 11, 7)
    activations = stack.forward(batch)
    stack.backward(activations, stack.reconstruction_loss(activations[-1], batch)[1])
    first_weights, first_gradients = stack.layers[0][0], stack._gradients[0][0]
    assert not first_weights[1, :, 5:].any()  # the second member is 5 wide there
    assert not first_gradients[1, :, 5:].any()


def test_an_encoder_is_its_slice_of_the_stack():
    stack = stack_of()
    batch = torch.rand(2, 11, 7)
    codes = stack.forward(batch)[3]
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


@pytest.mark.parametrize("rows", [7, 256])
@pytest.mark.parametrize("terms", [512, 784, 2000])
@pytest.mark.parametrize("columns", [10, 64])
def test_products_do_not_depend_on_threads_or_company(rows, terms, columns):
    generator = torch.Generator().manual_seed(0)
    left = torch.randn(3, rows, terms, generator=generator)
    right = torch.randn(3, terms, columns, generator=generator)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        two = product(left, right)
        torch.set_num_threads(1)
        one = product(left, right)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(one, two)
    assert torch.equal(product(left[1:2], right[1:2])[0], two[1])
    torch.testing.assert_close(two, left @ right, atol=1e-3, rtol=1e-4)
