"""The training step of a whole ensemble as a handful of Triton kernels.

Each launch treats one layer of all members, whatever their widths: the second axis of
the grid is the member, the first its tiles, of all rows or of those from ``first_row``
on. Widths and batches are padded to multiples
of ``TILE``, so that no kernel needs a mask inside its loop.

A layer's bias is one more row of its weights, fed by a column of ones that stands
right behind the last true unit. So the product adds the bias, and the product of the
weight gradient sums the bias gradient. That product ends in Adam's update: a gradient
never reaches memory.

Tensor cores take float32 numbers only from operands whose summed axis is contiguous
(``SUM_AXIS_LAST``). Activations, gradients and weights are then kept in both
orientations; numbers of 16 bits do not need that.
"""

# mypy: ignore-errors
# Triton reads these functions itself: their parameters have no Python types.

from __future__ import annotations

import triton
import triton.language as tl

# Widths and batches are multiples of this.
TILE = 64

# Numbers that ``table`` holds for each member's layer: padded and true widths of its
# input and output, and its offsets among inputs, outputs and weights.
LAYER_FIELDS = 7


@triton.jit
def _layer(table, member):
    entry = table + member * 7
    n_in = tl.multiple_of(tl.load(entry).to(tl.int32), 64)
    n_out = tl.multiple_of(tl.load(entry + 1).to(tl.int32), 64)
    in_width = tl.load(entry + 2).to(tl.int32)
    out_width = tl.load(entry + 3).to(tl.int32)
    in_offset = tl.multiple_of(tl.load(entry + 4), 64)
    out_offset = tl.multiple_of(tl.load(entry + 5), 64)
    weight_offset = tl.multiple_of(tl.load(entry + 6), 64)
    return n_in, n_out, in_width, out_width, in_offset, out_offset, weight_offset


@triton.jit
def _product(
    left,
    right,
    n_terms,
    left_stride,
    right_stride,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """One tile of a product; the strides are those of the axis it sums over."""
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for _ in range(0, n_terms, DEPTH):
        total = tl.dot(tl.load(left), tl.load(right), total, input_precision=PRECISION)
        left += DEPTH * left_stride
        right += DEPTH * right_stride
    return total


@triton.jit
def _layer_output(
    inputs,
    weights,
    row,
    column,
    n_in,
    n_out,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """One tile of inputs @ weights."""
    term = tl.arange(0, DEPTH)
    left = inputs + row[:, None] * n_in + term[None, :]
    if SUM_AXIS_LAST:
        right = weights + term[:, None] + column[None, :] * n_in
        stride = 1
    else:
        right = weights + term[:, None] * n_out + column[None, :]
        stride = n_out
    return _product(left, right, n_in, 1, stride, ROWS, COLUMNS, DEPTH, PRECISION)


@triton.jit
def load_kernel(
    rows,
    plain,
    transposed,
    batch_size,
    n_columns,
    n_rows,
    width,
    SUM_AXIS_LAST: tl.constexpr,
    TILE: tl.constexpr,
):
    """Copy batches into their padded place, in both orientations if need be."""
    tile, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    across = tl.cdiv(n_columns, TILE)
    row = tile // across * TILE + tl.arange(0, TILE)
    column = tile % across * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < batch_size) & (column[None, :] < n_columns)
    source = rows + batch * batch_size * n_columns
    value = tl.load(source + row[:, None] * n_columns + column[None, :], mask=inside)
    value = value.to(plain.dtype.element_ty)
    start = batch * n_rows * width
    tl.store(plain + start + row[:, None] * width + column[None, :], value, mask=inside)
    if SUM_AXIS_LAST:
        place = row[:, None] + column[None, :] * n_rows
        tl.store(transposed + start + place, value, mask=inside)


@triton.jit(do_not_specialize=["relu"])
def forward_kernel(
    inputs,
    weights,
    outputs,
    outputs_t,
    table,
    first_row,
    n_rows,
    relu,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """outputs = relu(inputs @ weights), with a one behind the last true unit."""
    tile, member = tl.program_id(0), tl.program_id(1)
    n_in, n_out, _, out_width, in_offset, out_offset, weight_offset = _layer(
        table, member
    )
    across = n_out // COLUMNS
    if tile >= across * ((n_rows - first_row) // ROWS):
        return
    row = first_row + tile // across * ROWS + tl.arange(0, ROWS)
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    total = _layer_output(
        inputs + in_offset,
        weights + weight_offset,
        row,
        column,
        n_in,
        n_out,
        SUM_AXIS_LAST,
        ROWS,
        COLUMNS,
        DEPTH,
        PRECISION,
    )
    total = tl.where((total > 0) | (relu == 0), total, 0.0)
    total = tl.where(column[None, :] == out_width, 1.0, total)
    total = total.to(outputs.dtype.element_ty)
    tl.store(outputs + out_offset + row[:, None] * n_out + column[None, :], total)
    if SUM_AXIS_LAST:
        place = row[:, None] + column[None, :] * n_rows
        tl.store(outputs_t + out_offset + place, total)


@triton.jit
def reconstruct_kernel(
    inputs,
    weights,
    targets,
    deltas,
    deltas_t,
    losses,
    table,
    n_rows,
    n_true_rows,
    BOUNDED: tl.constexpr,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The last layer: its loss, added to the tile's own slot, and its gradient."""
    tile, member = tl.program_id(0), tl.program_id(1)
    n_in, n_out, _, out_width, in_offset, out_offset, weight_offset = _layer(
        table, member
    )
    across = n_out // COLUMNS
    row = tile // across * ROWS + tl.arange(0, ROWS)
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    output = _layer_output(
        inputs + in_offset,
        weights + weight_offset,
        row,
        column,
        n_in,
        n_out,
        SUM_AXIS_LAST,
        ROWS,
        COLUMNS,
        DEPTH,
        PRECISION,
    )
    place = row[:, None] * n_out + column[None, :]
    target = tl.load(targets + out_offset + place).to(tl.float32)
    size = (n_true_rows * out_width).to(tl.float32)
    if BOUNDED:
        shrunk = tl.exp(-tl.abs(output))
        loss = tl.maximum(output, 0.0) - output * target + tl.log(1.0 + shrunk)
        chance = tl.where(output >= 0, 1.0, shrunk) / (1.0 + shrunk)
        delta = (chance - target) / size
    else:
        residual = output - target
        loss = residual * residual
        delta = residual * 2.0 / size
    real = (row[:, None] < n_true_rows) & (column[None, :] < out_width)
    slot = losses + member * tl.num_programs(0) + tile
    tl.store(slot, tl.load(slot) + tl.sum(tl.where(real, loss, 0.0)) / size)
    delta = tl.where(real, delta, 0.0).to(deltas.dtype.element_ty)
    tl.store(deltas + out_offset + place, delta)
    if SUM_AXIS_LAST:
        place = row[:, None] + column[None, :] * n_rows
        tl.store(deltas_t + out_offset + place, delta)


@triton.jit(do_not_specialize=["relu"])
def backward_kernel(
    deltas,
    weights,
    inputs,
    in_deltas,
    in_deltas_t,
    table,
    first_row,
    n_rows,
    relu,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """in_deltas = deltas @ weightsᵀ, where the unit below is alive and true."""
    tile, member = tl.program_id(0), tl.program_id(1)
    n_in, n_out, in_width, _, in_offset, out_offset, weight_offset = _layer(
        table, member
    )
    across = n_in // COLUMNS
    if tile >= across * ((n_rows - first_row) // ROWS):
        return
    row = first_row + tile // across * ROWS + tl.arange(0, ROWS)
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    term = tl.arange(0, DEPTH)
    left = deltas + out_offset + row[:, None] * n_out + term[None, :]
    right = weights + weight_offset + term[:, None] + column[None, :] * n_out
    total = _product(left, right, n_out, 1, 1, ROWS, COLUMNS, DEPTH, PRECISION)
    place = row[:, None] * n_in + column[None, :]
    alive = (tl.load(inputs + in_offset + place) > 0) | (relu == 0)
    alive = alive & (column[None, :] < in_width)
    total = tl.where(alive, total, 0.0).to(in_deltas.dtype.element_ty)
    tl.store(in_deltas + in_offset + place, total)
    if SUM_AXIS_LAST:
        place = row[:, None] + column[None, :] * n_rows
        tl.store(in_deltas_t + in_offset + place, total)


@triton.jit(do_not_specialize=["step"])
def update_kernel(
    inputs,
    deltas,
    weights,
    weights_t,
    master,
    first,
    second,
    schedule,
    n_done,
    step,
    table,
    n_rows,
    BETA_1: tl.constexpr,
    BETA_2: tl.constexpr,
    EPSILON: tl.constexpr,
    SUM_AXIS_LAST: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The gradient inputsᵀ @ deltas of a tile of weights, and Adam's step with it.

    With ``SUM_AXIS_LAST`` both come transposed, ``weights`` are the master copy
    itself, and ``weights_t`` is kept beside it.
    """
    tile, member = tl.program_id(0), tl.program_id(1)
    n_in, n_out, _, _, in_offset, out_offset, weight_offset = _layer(table, member)
    across = n_out // COLUMNS
    if tile >= across * (n_in // ROWS):
        return
    row = tile // across * ROWS + tl.arange(0, ROWS)
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    term = tl.arange(0, DEPTH)
    if SUM_AXIS_LAST:
        left = inputs + in_offset + row[:, None] * n_rows + term[None, :]
        right = deltas + out_offset + term[:, None] + column[None, :] * n_rows
        gradient = _product(left, right, n_rows, 1, 1, ROWS, COLUMNS, DEPTH, PRECISION)
    else:
        left = inputs + in_offset + row[:, None] + term[None, :] * n_in
        right = deltas + out_offset + term[:, None] * n_out + column[None, :]
        gradient = _product(
            left, right, n_rows, n_in, n_out, ROWS, COLUMNS, DEPTH, PRECISION
        )
    now = tl.load(n_done) + step
    rate = tl.load(schedule + 2 * now)
    correction = tl.load(schedule + 2 * now + 1)
    place = row[:, None] * n_out + column[None, :]
    # The moments are met once a step: they need not stay in the cache.
    mean = tl.load(first + weight_offset + place, eviction_policy="evict_first")
    square = tl.load(second + weight_offset + place, eviction_policy="evict_first")
    weight = tl.load(master + weight_offset + place)
    mean += (gradient - mean) * (1 - BETA_1)
    square += (gradient * gradient - square) * (1 - BETA_2)
    weight -= rate * mean / (tl.sqrt(square) * correction + EPSILON)
    tl.store(first + weight_offset + place, mean, eviction_policy="evict_first")
    tl.store(second + weight_offset + place, square, eviction_policy="evict_first")
    tl.store(master + weight_offset + place, weight)
    if SUM_AXIS_LAST:
        place = row[:, None] + column[None, :] * n_in
        tl.store(weights_t + weight_offset + place, weight)
    else:
        tl.store(weights + weight_offset + place, weight.to(weights.dtype.element_ty))
