"""Look for products whose bits depend on place, company or threads: there are none.

    make bits                                    all environments, a quarter of an hour
    python benchmarks/bits.py --shapes 500       fewer shapes

A shape is drawn: members, rows, terms, columns, number type, and which side lies
transposed in memory. The product of a member must be the same alone and in company,
and shared by two threads and by three. One row is repeated down a block: all rows of
the result must be equal, and equal to the row alone. The same is asked of sums of
columns, lengths of rows, and nearest targets. The scan is made again in processes that
are told to use other instructions, so that one machine shows several kernels. The last
line is the number of unequal results.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
from measure import processor_name

from scedae._numerics import column_sums, lengths, product, times
from scedae._spectral import nearest
from scedae._threads import helpers, one_thread

ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {},
    {"ATEN_CPU_CAPABILITY": "default"},
    {"ATEN_CPU_CAPABILITY": "avx2"},
    {"ATEN_CPU_CAPABILITY": "avx512"},
    {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    {"MKL_ENABLE_INSTRUCTIONS": "AVX512"},
    {"MKL_CBWR": "COMPATIBLE"},
    {"MKL_CBWR": "AVX2"},
)
LAYERS = (48, 72, 96, 256, 384, 500, 512, 750, 1000)
SHAPES = 20_000
# Products of a shape with more than one member: large ones are the same kernels.
MOST_WORK = 1 << 24


@dataclass(frozen=True)
class Shape:
    members: int
    rows: int
    terms: int
    columns: int
    dtype: torch.dtype
    layout: str  # which side lies transposed: "", "left" or "right"


def draw_shapes(number: int, seed: int = 0) -> Iterator[Shape]:
    """Each width of 1 … 40 and of the default layers comes up again and again."""
    draw = random.Random(seed)
    widths = (*range(1, 41), *LAYERS)

    def size(most: int) -> int:
        """Small ones as often as large ones."""
        return min(int(most ** draw.random() * draw.uniform(1, 2)), most)

    for i in range(number):
        rows, terms, columns = size(600), size(2000), widths[i % len(widths)]
        most = max(MOST_WORK // (rows * terms * columns), 1)
        yield Shape(
            members=min(draw.randint(1, 7), most),
            rows=rows,
            terms=terms,
            columns=columns,
            dtype=draw.choice((torch.float32, torch.float32, torch.float64)),
            layout=draw.choice(("", "left", "right")),
        )


def _laid_out(matrices: torch.Tensor, transposed: bool) -> torch.Tensor:
    return matrices.mT.contiguous().mT if transposed else matrices


def unequal(shape: Shape, seed: int) -> list[str]:
    """What depends on something it must not depend on, by name."""
    draw = torch.Generator().manual_seed(seed)
    m, n, t, k = shape.members, shape.rows, shape.terms, shape.columns
    row = torch.randn(m, 1, t, dtype=shape.dtype, generator=draw)
    right = torch.randn(m, t, k, dtype=shape.dtype, generator=draw)
    left = _laid_out(row.expand(m, n, t).contiguous(), shape.layout == "left")
    right = _laid_out(right, shape.layout == "right")
    member = (seed % m, seed % m + 1)
    one = slice(*member)
    found, one_by_one = product(left, right), times(left[0], right[0])
    checks = {
        "company": torch.equal(product(left[one], right[one]), found[one]),
        "place": _rows_are_equal(one_by_one[None]),
        "alone": torch.equal(times(row[0], right[0]), one_by_one[:1]),
    }
    sums = column_sums(right)
    checks["sum, company"] = torch.equal(column_sums(right[one]), sums[one])
    squares = lengths(left[0].contiguous())
    checks["length, place"] = _rows_are_equal(squares[None])
    checks["length, alone"] = torch.equal(lengths(row[0]), squares[:1])
    if seed % 4 == 0:  # several times the cost of all other checks
        targets, r = right[0].T, min(3, k)
        chosen = nearest(left[0], targets, r)
        checks["nearest, place"] = _rows_are_equal(chosen[None])
        checks["nearest, alone"] = torch.equal(nearest(row[0], targets, r), chosen[:1])
    for number in (2, 3):
        with helpers(number):
            checks[f"{number} threads"] = torch.equal(product(left, right), found)
    return [name for name, holds in checks.items() if not holds]


def _rows_are_equal(matrices: torch.Tensor) -> bool:
    return bool((matrices == matrices[:, :1]).all())


@torch.no_grad()
def scan(number: int) -> Counter[str]:
    """How many shapes have unequal results, by what they depend on."""
    found: Counter[str] = Counter()
    with one_thread():
        for seed, shape in enumerate(draw_shapes(number)):
            found.update(unequal(shape, seed))
    return found


def _name(environment: dict[str, str]) -> str:
    return " ".join(f"{k}={v}" for k, v in environment.items()) or "as it is"


def scan_elsewhere(number: int, environment: dict[str, str]) -> dict[str, Any]:
    """The scan in a process of its own, with other variables set."""
    if "avx512" in _name(environment).lower() and "avx512" not in processor_name():
        return {"left out": "this processor has no AVX-512"}
    done = subprocess.run(
        [sys.executable, __file__, "--shapes", str(number), "--here"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", type=int, default=SHAPES, help="in each process")
    parser.add_argument("--only", default="", help="environments that name this")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        capability = torch.backends.cpu.get_cpu_capability()
        found = scan(arguments.shapes)
        record = {"torch": capability, "shapes": arguments.shapes, "unequal": found}
        print(json.dumps(record))
        return
    print(f"{processor_name()}; torch {torch.__version__}", flush=True)
    environments = [each for each in ENVIRONMENTS if arguments.only in _name(each)]
    total = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        scans = [pool.submit(scan_elsewhere, arguments.shapes, e) for e in environments]
        for environment, found in zip(environments, scans, strict=True):
            record = found.result()
            total += sum(record.get("unequal", {}).values())
            print(f"{_name(environment)}: {json.dumps(record)}", flush=True)
    print(f"unequal results: {total}")
    sys.exit(total > 0)


if __name__ == "__main__":
    main()
