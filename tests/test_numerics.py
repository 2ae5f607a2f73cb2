"""Products and blocks whose bits do not depend on company."""

import importlib
from pathlib import Path

import pytest
import torch

from scedae import _numerics
from scedae._numerics import (
    LEAST_BLOCK,
    MULTIPLE,
    by_blocks,
    column_sums,
    lengths,
    padded,
    product,
    round_up,
    times,
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


@pytest.fixture
def asked(monkeypatch):
    """Shapes of the products that the library is asked for, and where they read."""
    bmm, add = torch.bmm, torch.Tensor.baddbmm_
    seen = []

    def multiply(left, right, out=None):
        seen.append((*left.shape, right.shape[2]))
        return bmm(left, right, out=out)

    def multiply_and_add(out, left, right):
        seen.append((*left.shape, right.shape[2]))
        return add(out, left, right)

    monkeypatch.setattr(torch, "bmm", multiply)
    monkeypatch.setattr(torch.Tensor, "baddbmm_", multiply_and_add)
    return seen


@pytest.fixture
def shared(monkeypatch):
    """How many pieces were shared out, each time."""
    counts = []

    def share_out(function, items):
        counts.append(len(items))
        return [function(item) for item in items]

    monkeypatch.setattr(_numerics, "share_out", share_out)
    return counts


def test_a_library_meets_rounded_shapes_and_short_sums_only(asked):
    product(draw(3, 7, 10), draw(3, 10, 5))
    product(draw(1, 16, 512), draw(1, 512, 32))
    assert asked == [(3, 16, 16, 16), (1, 16, 512, 32)]
    asked.clear()
    product(draw(1, 16, 1040), draw(1, 1040, 17))
    assert asked == [(1, 16, 512, 32), (1, 16, 512, 32), (1, 16, 16, 32)]


@pytest.mark.parametrize("shape", [(15, 16, 16), (16, 15, 16), (16, 16, 15)])
def test_each_length_is_rounded(asked, shape):
    height, terms, width = shape
    found = product(draw(1, height, terms), draw(1, terms, width, seed=1))
    assert asked == [(1, 16, 16, 16)]
    assert found.shape == (1, height, width)


def test_operands_that_need_no_padding_are_not_copied(monkeypatch):
    monkeypatch.setattr(_numerics, "padded", None)
    left, right = draw(2, 32, 48), draw(2, 48, 16, seed=1)
    torch.testing.assert_close(product(left, right), left @ right)


def test_large_products_are_cut_into_tiles_by_their_shape(asked, shared):
    small = draw(1, 512, 255, dtype=torch.float32), draw(1, 255, 512)
    product(small[0], small[1].float())
    assert (len(asked), shared) == (1, [])
    asked.clear()
    left = draw(2, 800, 256, dtype=torch.float32)
    right = draw(2, 256, 528, dtype=torch.float32, seed=1)
    found = product(left, right)
    assert shared == [2 * 3 * 2]
    tiles = {(1, h, 256, w) for h in (384, 32) for w in (512, 16)}
    assert set(asked) == tiles
    torch.testing.assert_close(found, left @ right, atol=1e-3, rtol=1e-5)
    out = torch.full_like(found, torch.nan)
    assert product(left, right, out=out).data_ptr() == out.data_ptr()
    assert torch.equal(out, found)


def test_the_least_product_that_is_cut(shared):
    left, right = torch.ones(1, 512, 256), torch.ones(1, 256, 512)
    assert (product(left, right) == 256).all()
    assert shared == [2]  # 2^26 multiplications


@pytest.mark.parametrize(("n_rows", "counts"), [(1023, []), (1024, [128])])
def test_many_numbers_are_shared_out(shared, n_rows, counts):
    rows = torch.ones(n_rows, 1024)
    by_blocks(lambda block: block, rows, torch.empty_like(rows), 8)
    assert shared == counts


def test_the_last_block_is_filled_up_with_zeros():
    rows, blocks = torch.ones(11, 4), []
    by_blocks(lambda block: blocks.append(block) or block, rows, rows.clone(), 8)
    assert [float(block.sum()) for block in blocks] == [32, 12]
    assert not blocks[1][3:].any()


def test_rows_times_a_matrix_in_blocks_of_one_height(asked):
    rows, matrix = draw(400, 20), draw(20, 3, seed=1)
    torch.testing.assert_close(times(rows, matrix), rows @ matrix)
    assert asked == [(1, LEAST_BLOCK, 32, 16)] * 2


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
