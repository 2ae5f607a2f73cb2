"""Products and blocks whose bits do not depend on company."""

import importlib
from pathlib import Path

import pytest
import torch

from scedae._numerics import (
    MULTIPLE,
    by_blocks,
    column_sums,
    lengths,
    padded,
    product,
    round_up,
)
from scedae._threads import own_threads

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def bits(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("bits")


def draw(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=dtype, generator=generator)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "t", "k"), [(1, 1, 1), (7, 10, 5), (33, 1200, 17)])
def test_products_equal_naive_ones(n, t, k, dtype):
    left, right = draw(3, n, t, dtype=dtype), draw(3, t, k, dtype=dtype, seed=1)
    expected = (left[:, :, :, None].double() * right[:, None].double()).sum(2)
    atol = 1e-3 if dtype == torch.float32 else 1e-10
    found = product(left, right)
    assert found.shape == (3, n, k)
    torch.testing.assert_close(found.double(), expected, atol=atol, rtol=1e-5)
    transposed = product(left.mT.contiguous().mT, right.mT.contiguous().mT)
    torch.testing.assert_close(transposed, found, atol=atol, rtol=1e-5)


@pytest.mark.parametrize("t", [512, 528, 1024, 1040])
def test_long_sums_into_memory_that_is_given(t):
    left, right = draw(2, 16, t), draw(2, t, 32, seed=1)
    out = torch.full((2, 16, 32), torch.nan, dtype=torch.float64)
    found = product(left, right, out=out)
    assert found.data_ptr() == out.data_ptr()
    torch.testing.assert_close(out, left @ right)


def test_padding_is_zeros_at_the_end():
    assert [round_up(n) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]
    matrices = draw(2, 5, 20)
    filled = padded(matrices)
    assert filled.shape == (2, MULTIPLE, 2 * MULTIPLE)
    assert torch.equal(filled[:, :5, :20], matrices)
    assert filled.abs().sum() == matrices.abs().sum()
    whole = draw(2, 32, 16)
    assert padded(whole) is whole


def test_sums_of_columns_and_lengths_of_rows():
    matrices = draw(3, 40, 7)
    torch.testing.assert_close(column_sums(matrices)[:, 0], matrices.sum(1))
    expected = torch.linalg.vector_norm(matrices[0], dim=1, keepdim=True)
    torch.testing.assert_close(lengths(matrices[0]), expected)


@pytest.mark.parametrize("n_rows", [0, 1, 8, 9, 70_000])
def test_blocks_have_one_height_and_all_rows_their_place(n_rows):
    rows = torch.arange(n_rows * 16.0).view(n_rows, 16)
    heights = set()

    def kernel(block):
        heights.add(len(block))
        return block * 2

    with own_threads():
        found = by_blocks(kernel, rows, torch.empty_like(rows), 8)
    assert torch.equal(found, 2 * rows)
    assert heights == ({8} if n_rows else set())


def test_nothing_depends_on_place_company_or_threads(bits):
    """The short form of `make bits`."""
    assert bits.scan(500) == {}


def test_the_scan_sees_what_depends_on_company(bits, monkeypatch):
    """Products that are not padded are caught, or a scan could not fail."""

    def by_company(left, right):
        return torch.bmm(left, right) * (1 + 1e-6 * len(left))

    monkeypatch.setattr(bits, "product", by_company)
    assert "company" in bits.scan(20)


def test_the_scan_covers_the_widths_that_networks_have(bits):
    shapes = list(bits.draw_shapes(2000))
    assert {*range(1, 41), *bits.LAYERS} == {shape.columns for shape in shapes}
    assert {shape.members for shape in shapes} == set(range(1, 8))
    assert max(shape.rows for shape in shapes) == 600
    assert max(shape.terms for shape in shapes) == 2000
    assert min(shape.rows for shape in shapes) == 1 == min(s.terms for s in shapes)
