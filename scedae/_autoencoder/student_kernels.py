"""What the network that refines does between its layers, as three Triton kernels.

A step's rows stand below each other: ``half`` rows as they are, then the same rows
moved, first by a small probe, then by the worst step. Each kernel treats a few of them
at a time. ``student.py`` has the loss and what its terms mean.
"""

# mypy: ignore-errors
# Triton reads these functions itself: their parameters have no Python types.

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _log_chances(outputs, row, column, n_classes, stride):
    """The logarithm of the softmax of some rows; -inf where there is no class."""
    real = column[None, :] < n_classes
    place = row[:, None] * stride + column[None, :]
    found = tl.load(outputs + place, mask=real, other=float("-inf")).to(tl.float32)
    found -= tl.max(found, 1)[:, None]
    return found - tl.log(tl.sum(tl.exp(found), 1))[:, None]


@triton.jit
def probe_kernel(
    outputs,
    deltas,
    sums,
    half,
    n_rows,
    n_classes,
    stride,
    TINY: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """How the probe changed the chances, as vectors of length one; sums of chances."""
    block = tl.program_id(0)
    row, column = block * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    chances = tl.exp(_log_chances(outputs, row, column, n_classes, stride))
    probed = tl.exp(_log_chances(outputs, half + row, column, n_classes, stride))
    change = probed - chances
    # Its scale does not matter, but it must not vanish in single precision.
    change /= tl.sqrt(tl.sum(change * change, 1))[:, None] + TINY
    real = (row[:, None] < n_rows) & (column[None, :] < n_classes)
    place = (half + row)[:, None] * stride + column[None, :]
    value = tl.where(real, change, 0.0).to(deltas.dtype.element_ty)
    tl.store(deltas + place, value, mask=column[None, :] < stride)
    total = tl.sum(tl.where(real, chances, 0.0), 0)
    tl.store(sums + block * COLUMNS + column, total)


@triton.jit
def move_kernel(
    inputs,
    inputs_t,
    uphill,
    radius,
    half,
    n_rows,
    n_columns,
    width,
    TINY: tl.constexpr,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Rows after their worst step, in the place of the probes."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    squares = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, n_columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        real = inside[:, None] & (column[None, :] < n_columns)
        place = (half + row)[:, None] * width + column[None, :]
        step = tl.load(uphill + place, mask=real, other=0.0).to(tl.float32)
        squares += step * step
    length = tl.sqrt(tl.sum(squares, 1)) + TINY
    scale = tl.load(radius + row, mask=inside, other=0.0) / length
    for start in range(0, n_columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        real = inside[:, None] & (column[None, :] < n_columns)
        place = row[:, None] * width + column[None, :]
        there = place + half * width
        value = tl.load(inputs + place, mask=real, other=0.0).to(tl.float32)
        step = tl.load(uphill + there, mask=real, other=0.0).to(tl.float32)
        value = (value + step * scale[:, None]).to(inputs.dtype.element_ty)
        tl.store(inputs + there, value, mask=real)
        if SUM_AXIS_LAST:
            place = (half + row)[:, None] + column[None, :] * (2 * half)
            tl.store(inputs_t + place, value, mask=real)


@triton.jit
def _mean_chances(sums, column, n_blocks, n_rows, COLUMNS: tl.constexpr):
    total = tl.zeros((COLUMNS,), tl.float32)
    for block in range(0, n_blocks):
        total += tl.load(sums + block * COLUMNS + column)
    return tl.maximum(total / n_rows, 1e-8)


@triton.jit
def lesson_kernel(
    outputs,
    deltas,
    deltas_t,
    sums,
    labels,
    taught,
    shares,
    losses,
    half,
    n_rows,
    n_classes,
    stride,
    STEADINESS: tl.constexpr,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """The loss, added to the block's own slot, and its gradient at all outputs."""
    block, n_blocks = tl.program_id(0), tl.num_programs(0)
    row, column = block * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside, known = row < n_rows, column < n_classes
    real = inside[:, None] & known[None, :]
    log_chances = _log_chances(outputs, row, column, n_classes, stride)
    log_after = _log_chances(outputs, half + row, column, n_classes, stride)
    chances, after = tl.exp(log_chances), tl.exp(log_after)
    label = tl.load(labels + row, mask=inside, other=-1)
    weight = tl.load(taught + row, mask=inside, other=0.0)
    share = tl.load(shares + column, mask=known, other=1.0)
    mean = _mean_chances(sums, column, n_blocks, n_rows, COLUMNS)
    mean = tl.where(known, mean, 1.0)

    named = column[None, :] == label[:, None]
    at_chances = tl.where(known[None, :], -share / mean, 0.0)
    through = chances * (at_chances - tl.sum(chances * at_chances, 1)[:, None])
    delta = weight[:, None] * (chances - tl.where(named, 1.0, 0.0)) + through / n_rows
    moved = (after - chances) * (STEADINESS / n_rows)

    unsteady = tl.where(real, chances * (log_chances - log_after), 0.0)
    wrong = tl.where(named, -weight[:, None] * log_chances, 0.0)
    drift = tl.where(known, share * tl.log(share / mean), 0.0)
    loss = tl.sum(unsteady) * (STEADINESS / n_rows) + tl.sum(wrong)
    loss += tl.where(block == 0, tl.sum(drift), 0.0)
    tl.store(losses + block, tl.load(losses + block) + loss)

    wide = column[None, :] < stride
    delta = tl.where(real, delta, 0.0).to(deltas.dtype.element_ty)
    moved = tl.where(real, moved, 0.0).to(deltas.dtype.element_ty)
    place = row[:, None] * stride + column[None, :]
    tl.store(deltas + place, delta, mask=wide)
    tl.store(deltas + place + half * stride, moved, mask=wide)
    if SUM_AXIS_LAST:
        place = row[:, None] + column[None, :] * (2 * half)
        tl.store(deltas_t + place, delta, mask=wide)
        tl.store(deltas_t + place + half, moved, mask=wide)
