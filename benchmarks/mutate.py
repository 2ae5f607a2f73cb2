"""Do the tests notice? Small mistakes are made in the kernels, one at a time.

    python benchmarks/mutate.py [--count 200] [--seed 0] [--module kmeans ...]

Each mutant is one change: another operator, a constant that is one larger or twice as
large, a condition turned round, a statement left out. It lives in memory alone, and is
judged by the tests of its own module (tests/spectral/test_X.py for _spectral/X.py). A
mutant dies when a test fails or takes ten times as long. Ends with 1 if fewer than
--least percent die.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

TREE = Path(__file__).resolve().parent.parent
KERNELS = TREE / "scedae" / "_spectral"

# Modules whose tests stand in files of other names.
TESTS = {
    "factored": ["spectral/test_gram.py", "spectral/test_embedding.py"],
    "_numerics": ["test_numerics.py"],
}

# Functions that choose how much is done at a time, which changes no result, and one
# that answers on a GPU alone.
NOT_COUNTED = {"_block_rows", "__sizeof__", "fits_on_device"}

# Conditions that ask for the device: the other branch says the same, or cannot run.
DEVICE = re.compile(r"(not )?[\w.]+\.(is_cpu|device\.type [!=]= '\w+')")

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "amin": "amax",
    "amax": "amin",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "any": "all",
    "all": "any",
}


@dataclass(frozen=True)
class Mutant:
    """One change to one module."""

    module: str
    path: Path
    line: int
    what: str
    tree: ast.Module


def changes(node: ast.AST) -> Iterator[ast.AST | None]:
    """What may stand in the place of a node; None: nothing at all."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield ast.Compare(
            node.left, [SWAPS[type(node.ops[0])](), *node.ops[1:]], node.comparators
        )
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in SWAPS:
        yield ast.AugAssign(node.target, SWAPS[type(node.op)](), node.value)
        yield None
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield ast.Constant(2 * node.value or 1.0)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        turned = copy.copy(node)
        turned.test = ast.UnaryOp(ast.Not(), node.test)
        yield turned
    elif isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id in CALLS:
            yield ast.Call(ast.Name(CALLS[function.id]), node.args, node.keywords)
        elif isinstance(function, ast.Attribute) and function.attr in CALLS:
            other = ast.Attribute(function.value, CALLS[function.attr])
            yield ast.Call(other, node.args, node.keywords)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield None


def asks_for_device(node: ast.AST) -> bool:
    test = node.test if isinstance(node, ast.If | ast.IfExp) else None
    return test is not None and bool(DEVICE.fullmatch(ast.unparse(test)))


def is_counted(node: ast.AST, parents: Sequence[ast.AST]) -> bool:
    """Not types, not guards and what they say, not what changes no result."""
    for parent, child in zip(parents, [*parents[1:], node], strict=True):
        if isinstance(parent, ast.Raise | ast.Assert | ast.JoinedStr):
            return False
        if isinstance(parent, ast.keyword) and parent.arg == "strict":
            return False
        if isinstance(parent, ast.arg | ast.AnnAssign) and child is parent.annotation:
            return False
        if isinstance(parent, ast.FunctionDef) and child is parent.returns:
            return False
        if isinstance(parent, ast.FunctionDef) and parent.name in NOT_COUNTED:
            return False
        if child in getattr(parent, "decorator_list", ()):
            return False
        if child is getattr(parent, "test", None) and asks_for_device(parent):
            return False
    if asks_for_device(node):
        return False
    # Sizes of blocks at the top of a file change no result.
    top = parents[1] if len(parents) > 1 else node
    return not isinstance(top, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom)


def walk(
    node: ast.AST, parents: tuple[ast.AST, ...] = ()
) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    yield node, parents
    for child in ast.iter_child_nodes(node):
        yield from walk(child, (*parents, node))


class Replace(ast.NodeTransformer):
    """The n-th node of a tree, replaced."""

    def __init__(self, node: ast.AST, new: ast.AST | None) -> None:
        self._node, self._new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._node:
            return ast.Pass() if self._new is None else self._new
        return self.generic_visit(node)


def mutants(module: str, path: Path) -> Iterator[Mutant]:
    """Every change of one file."""
    tree = ast.parse(path.read_text())
    for place, (node, parents) in enumerate(walk(tree)):
        if not parents or not is_counted(node, parents):
            continue
        for number, new in enumerate(changes(node)):
            own = ast.parse(path.read_text())
            there = [n for n, _ in walk(own)][place]
            theirs = list(changes(there))[number]
            was, now = ast.unparse(node), "nothing" if new is None else ast.unparse(new)
            what = f"{was.splitlines()[0]} → {now.splitlines()[0]}"
            mutated = Replace(there, theirs).visit(own)
            line = getattr(node, "lineno", 0)
            yield Mutant(module, path, line, what, ast.fix_missing_locations(mutated))


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a tree in place of its file."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        name = mutant.path.relative_to(TREE).with_suffix("")
        self._name = ".".join(name.parts)

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        if name != self._name:
            return None
        return importlib.util.spec_from_loader(
            name, self, origin=str(self._mutant.path)
        )

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self._mutant.path)
        exec(compile(self._mutant.tree, str(self._mutant.path), "exec"), vars(module))


def tests_of(module: str) -> list[str]:
    names = TESTS.get(module, [f"spectral/test_{module}.py"])
    return [str(TREE / "tests" / name) for name in names]


def passes(module: str, mutant: Mutant | None, limit: float) -> bool:
    """Whether the tests of a module pass, in a process that ends with them."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        if mutant is not None:
            sys.meta_path.insert(0, Changed(mutant))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not gpu"]
        # The verdict is wanted, not the reason: no plain assert is taken apart.
        options.append("--assert=plain")
        os._exit(int(pytest.main([*options, *tests_of(module)]) != 0))
    until = time.monotonic() + limit
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def modules(asked: Sequence[str]) -> dict[str, Path]:
    found = {path.stem: path for path in sorted(KERNELS.glob("[!_]*.py"))}
    found["_numerics"] = TREE / "scedae" / "_numerics.py"
    unknown = set(asked) - set(found)
    if unknown:
        sys.exit(
            f"there is no module {', '.join(unknown)}; choose of {', '.join(found)}"
        )
    return {name: path for name, path in found.items() if not asked or name in asked}


def import_what_tests_need() -> None:
    """All but the package itself, before the first fork: it takes seconds."""
    code = "import sys, pytest, scedae, tests.helpers; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in found.split():
        if name.split(".")[0] not in ("scedae", "tests", "__main__"):
            with suppress(ImportError):
                importlib.import_module(name)


def limits(names: Sequence[str]) -> dict[str, float]:
    """Seconds that tests of a module may take; they must pass without a mutant."""
    found = {}
    for name in names:
        start = time.monotonic()
        if not passes(name, None, 600):
            sys.exit(f"the tests of {name} fail without any mutant: {tests_of(name)}")
        found[name] = 10 * (time.monotonic() - start) + 10
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, help="mutants drawn of all; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--least", type=float, default=85, help="percent that must die")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    # Plugins of other packages take longer to load than most tests here to run.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.chdir(TREE)
    sys.path.insert(0, str(TREE))
    import_what_tests_need()
    chosen = modules(arguments.module)
    every = [m for name, path in chosen.items() for m in mutants(name, path)]
    count = min(arguments.count or len(every), len(every))
    drawn = random.Random(arguments.seed).sample(every, count)
    drawn.sort(key=lambda mutant: (mutant.module, mutant.line))
    allowed = limits(sorted({mutant.module for mutant in drawn}))
    n_died = 0
    for mutant in drawn:
        if passes(mutant.module, mutant, allowed[mutant.module]):
            place = f"{mutant.path.relative_to(TREE)}:{mutant.line}"
            print(f"survived: {place}: {mutant.what}", flush=True)
        else:
            n_died += 1
    share = 100 * n_died / count
    print(f"{n_died} of {count} mutants died ({share:.1f} %); {len(every)} in all")
    sys.exit(int(share < arguments.least))


if __name__ == "__main__":
    main()
