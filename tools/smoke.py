"""A smoke test of an installed package: ``python tools/smoke.py``.

It needs nothing but the core. What an extra brings and is not there must end in one
sentence that names the extra.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import scedae
from scedae import SCEDAE, LandmarkSpectralClustering
from scedae.datasets import load_digits
from scedae.metrics import evaluate


def fit_predict_save_load(folder: Path) -> None:
    X, y = load_digits()
    model = SCEDAE(10, effort="fast", random_state=0).fit(X)
    accuracy = evaluate(y, model.labels_)["acc"]
    print(f"digits, effort='fast': accuracy {100 * accuracy:.1f} %")
    assert accuracy > 0.8, "ten digits are not told apart"
    model.save(folder / "digits.scedae")
    again = SCEDAE.load(folder / "digits.scedae")
    assert np.array_equal(again.predict(X), model.labels_), "another model was loaded"
    assert np.array_equal(again.predict(X[:5]), model.labels_[:5])
    quick = LandmarkSpectralClustering(10, random_state=0).fit(X)
    assert evaluate(y, quick.labels_)["acc"] > 0.7
    np.save(folder / "rows.npy", X)
    stored = model.predict(folder / "rows.npy")
    assert np.array_equal(stored, model.labels_), "a file has other labels than memory"


def draw() -> None:
    from scedae import plot

    X, _ = load_digits()
    plot.spectrum(LandmarkSpectralClustering(10, random_state=0).fit(X))


def read_csv() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_text("a,b\n1,2\n", encoding="utf-8")
        scedae.read_table(path)


def read_parquet() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        path.write_bytes(b"PAR1")
        SCEDAE(2).fit(path)


def cluster_cells() -> None:
    importlib.import_module("scedae.anndata")


# Package → what needs it, and the extra that brings it.
MISSING: dict[str, tuple[Callable[[], None], str]] = {
    "matplotlib": (draw, "scedae[plot]"),
    "polars": (read_csv, "scedae[tables]"),
    "pyarrow": (read_parquet, "scedae[files]"),
    "anndata": (cluster_cells, "scedae[anndata]"),
}


def missing_extras_are_named() -> None:
    for package, (call, extra) in MISSING.items():
        if importlib.util.find_spec(package) is not None:
            print(f"{package} is installed: its absence is not tested")
            continue
        try:
            call()
        except ImportError as error:
            assert extra in str(error), f"{package}: {error}"
            print(f"without {package}: {error}")
        else:
            raise AssertionError(f"{package} is missing, and nobody says so")


def the_command() -> None:
    """Where typer is missing, one line and no traceback; otherwise the version."""
    command = [sys.executable, "-m", "scedae", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    if importlib.util.find_spec("typer") is None:
        assert done.returncode != 0 and "scedae[cli]" in done.stderr, done
        assert done.stderr.count("\n") == 1, done.stderr
        print(done.stderr.strip())
    else:
        assert done.stdout == f"scedae {scedae.__version__}\n", done


def main() -> None:
    print(f"scedae {scedae.__version__} from {Path(scedae.__file__).parent}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        fit_predict_save_load(Path(folder))
    missing_extras_are_named()
    the_command()
    print("all is well")


if __name__ == "__main__":
    main()
