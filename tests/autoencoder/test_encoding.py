import pytest
import torch

from scedae._autoencoder import Encoder, encode, is_collapsed


@pytest.fixture
def encoder():
    generator = torch.Generator().manual_seed(0)
    shapes = ((30, 700), (700, 50), (50, 4))
    return Encoder(
        tuple(
            (torch.randn(a, b, generator=generator) / a**0.5, torch.zeros(b))
            for a, b in shapes
        )
    )


def test_a_row_has_the_same_code_in_any_company(encoder):
    rows = torch.randn(1500, 30, generator=torch.Generator().manual_seed(1))
    whole = encode(encoder, rows)
    assert whole.shape == (1500, 4)
    for part in (slice(0, 1), slice(3, 700), slice(511, 513)):
        assert torch.equal(encode(encoder, rows[part]), whole[part])
    order = torch.randperm(1500, generator=torch.Generator().manual_seed(2))
    assert torch.equal(encode(encoder, rows[order]), whole[order])


def test_codes_are_relu_inside_and_linear_at_the_end(encoder):
    rows = torch.randn(5, 30, generator=torch.Generator().manual_seed(1))
    (w1, _), (w2, _), (w3, _) = encoder.layers
    expected = ((rows @ w1).relu() @ w2).relu() @ w3
    torch.testing.assert_close(encode(encoder, rows), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("codes", "collapsed"),
    [
        (torch.ones(9, 3), True),
        (torch.full((9, 3), float("nan")), True),
        (torch.tensor([[1.0], [float("inf")]]), True),
        (torch.tensor([[1.0, 5.0], [1.0, 6.0]]), False),
    ],
)
def test_collapse_is_recognised(codes, collapsed):
    assert is_collapsed(codes) is collapsed
