"""What the data sets are: file, shape, checksum of the content, OpenML number."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Entry:
    """One data set. The checksum is of the numbers, not of the file's compression."""

    name: str
    shape: tuple[int, int]
    n_classes: int
    n_train: int | None
    sha256: str
    openml_id: int | None

    @property
    def file(self) -> str:
        return f"{self.name}.npz"


def content_checksum(X: np.ndarray, y: np.ndarray) -> str:
    """SHA-256 of type, shape and values of X and y, in little-endian C order."""
    digest = hashlib.sha256()
    for array in (X, y.astype("<i8")):
        plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
        digest.update(f"{plain.dtype.str}{plain.shape}".encode())
        digest.update(plain.data)
    return digest.hexdigest()


REGISTRY = {
    entry.name: entry
    for entry in (
        Entry(
            "mnist",
            (70000, 784),
            10,
            60000,
            "aab2d3960bf1c60aa37e95536dc194732c103bb56ee19bda838082b237d282f2",
            554,
        ),
        Entry(
            "usps",
            (9298, 256),
            10,
            7291,
            "2e6b108608d4659b3ad5a14ea4faff05b002dd62335aa4c65b3082f139878c7e",
            41082,
        ),
        Entry(
            "pendigits",
            (10992, 16),
            10,
            7494,
            "069074f6c778880888d7d78e3a08ea3cade1792fd3f8fa5d05e9d9399bed67fc",
            32,
        ),
        Entry(
            "fcps_atom",
            (800, 3),
            2,
            None,
            "806ed4049f5451e4fccb7d2cf5c58840eb43abb3e6f267934c6840008fece34e",
            None,
        ),
        Entry(
            "fcps_chainlink",
            (1000, 3),
            2,
            None,
            "aa17944d236fc36fc0a802ac14de87a1a203bbe059156626f98633d3a1e1cb23",
            None,
        ),
        Entry(
            "fcps_engytime",
            (4096, 2),
            2,
            None,
            "af888637090dbd03f0d356831c2548f7e8760d47d466db40dc374bf07d01e760",
            None,
        ),
        Entry(
            "fcps_hepta",
            (212, 3),
            7,
            None,
            "ea9ed5a9be245663e7b6444d5015fb2a2ed831c01fea3ddd299a489bb0890045",
            None,
        ),
        Entry(
            "fcps_lsun",
            (400, 2),
            3,
            None,
            "b457a30a090c990a7e750901fdc4ae7056a6cc3b4a6b9123ceeb693ff6ef1605",
            None,
        ),
        Entry(
            "fcps_target",
            (770, 2),
            6,
            None,
            "23b0dc98030a8a6f9b85cf72c6549a6e8d63844d6695578831c195a2f163c929",
            None,
        ),
        Entry(
            "fcps_tetra",
            (400, 3),
            4,
            None,
            "c79bfe2859f3e28ee680b9577e31861e336eb2af2c79a3553458a633ef286a61",
            None,
        ),
        Entry(
            "fcps_twodiamonds",
            (800, 2),
            2,
            None,
            "6faaf442d5adcd61df0f53dade0357f675d90ce214ed1b5f633f63eb71f01995",
            None,
        ),
        Entry(
            "fcps_wingnut",
            (1016, 2),
            2,
            None,
            "4b6f4a0aea559f4bd58660e83f63aaf791a3d994e5d65a8539ecb121012f5381",
            None,
        ),
    )
}

FCPS_NAMES = tuple(
    name.removeprefix("fcps_") for name in REGISTRY if name.startswith("fcps_")
)
