"""Does this tree give the labels of another revision? Same rows, same seeds, fast.

    python benchmarks/same_labels.py REVISION [--data digits usps pendigits] [--seeds 0]

The other revision is checked out into a temporary git worktree, which is removed at the
end. USPS and PenDigits come from the folder that SCEDAE_DATA names. Ends with 1 if any
label differs. Labels of two machines may differ; those of two trees on one machine
must not, unless a change to the answers was meant.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

TREE = Path(__file__).resolve().parent.parent

# Run by a process of its own in each tree: both packages have the same name.
FIT = """
import sys, warnings
import numpy as np
import scedae
from scedae import SCEDAE, datasets
warnings.simplefilter("ignore")
tree, name, seed, out = sys.argv[1:]
assert scedae.__file__.startswith(tree), scedae.__file__
X, y = getattr(datasets, f"load_{name}")()
model = SCEDAE(len(set(y.tolist())), effort="fast", random_state=int(seed)).fit(X)
np.savez(out, labels=model.labels_, embedding=model.embedding_)
"""


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Another revision of this repository in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="scedae-") as folder:
        place = Path(folder) / "tree"
        git = ["git", "-C", str(TREE), "worktree"]
        command = [*git, "add", "--quiet", "--detach", str(place), revision]
        subprocess.run(command, check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def fitted(tree: Path, data: str, seed: int) -> dict[str, np.ndarray]:
    """Labels and coordinates of one fit, by the package of a tree."""
    with tempfile.TemporaryDirectory(prefix="scedae-") as folder:
        out = Path(folder) / "fit.npz"
        command = [sys.executable, "-c", FIT, str(tree), data, str(seed), str(out)]
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        subprocess.run(command, check=True, cwd=folder, env=environment)
        return dict(np.load(out))


def compare(
    ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]
) -> tuple[int, float]:
    """Labels that differ, and the largest distance of a coordinate (inf: others)."""
    n_other = int((ours["labels"] != theirs["labels"]).sum())
    if ours["embedding"].shape != theirs["embedding"].shape:
        return n_other, np.inf
    return n_other, float(np.abs(ours["embedding"] - theirs["embedding"]).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="what this tree is compared with")
    names = ("digits", "usps", "pendigits")
    parser.add_argument("--data", nargs="+", choices=names, default=names)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    arguments = parser.parse_args()
    differs = False
    with checked_out(arguments.revision) as other:
        for data in arguments.data:
            for seed in arguments.seeds:
                ours, theirs = (fitted(tree, data, seed) for tree in (TREE, other))
                n_other, distance = compare(ours, theirs)
                differs |= n_other > 0
                print(
                    f"{data}, seed {seed}: {n_other} of {len(ours['labels'])} labels "
                    f"differ; coordinates within {distance:.1e}",
                    flush=True,
                )
    sys.exit(int(differs))


if __name__ == "__main__":
    main()
