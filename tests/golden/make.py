"""Write small models of every kind in the present format.

``python -m tests.golden.make``

Run once for each format version, by the package that introduced it, and commit what
it wrote. Files of former versions are never written again: they stand for the models
that users have.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec
from scedae._rows import stream
from scedae._storage.archive import FORMAT_VERSION
from scedae.baselines import DCN, DKM, IDEC, AutoencoderKMeans, AutoencoderLSC

HERE = Path(__file__).parent

SMALL = {
    "hidden_layers": (6, 4),
    "epochs": 10,
    "encoding_dim": 2,
    "random_state": 0,
}
ENSEMBLE = {**SMALL, "n_members": 2, "n_landmarks": 12}
JOINT = {**SMALL, "pretrain_epochs": 10}

MODELS = {
    "SCEDAE": lambda: SCEDAE(3, **ENSEMBLE),
    "SCEDAE-epochs": lambda: SCEDAE(3, ensemble="epochs", **ENSEMBLE),
    "SCEDAE-landmarks": lambda: SCEDAE(3, ensemble="landmarks", **ENSEMBLE),
    "SCEDAE-members": lambda: SCEDAE(
        3,
        ensemble=[MemberSpec((5,), 8, 12), MemberSpec((), 0, 9)],
        encoding_dim=2,
        random_state=0,
    ),
    "SCEDAE-auto": lambda: SCEDAE("auto", **ENSEMBLE),
    "SCEDAE-paper": lambda: SCEDAE.paper(3, **{**ENSEMBLE, "n_landmarks": 30}),
    "SCEDAE-names": lambda: SCEDAE(3, n_directions=None, scale="minmax", **ENSEMBLE),
    "SCEDAE-streamed": lambda: SCEDAE(3, scale="standard", **ENSEMBLE),
    "LandmarkSpectralClustering": lambda: LandmarkSpectralClustering(
        3, n_landmarks=12, random_state=0
    ),
    "AutoencoderLSC": lambda: AutoencoderLSC(3, n_landmarks=12, **SMALL),
    "AutoencoderKMeans": lambda: AutoencoderKMeans(3, scale="l2", **SMALL),
    "DCN": lambda: DCN(3, **JOINT),
    "DKM": lambda: DKM(3, **JOINT),
    "IDEC": lambda: IDEC(3, **JOINT),
}


def rows() -> np.ndarray:
    X, _ = make_blobs(60, 4, centers=3, cluster_std=0.5, random_state=0)
    return X


def rows_for(name: str, X: np.ndarray) -> object:
    """The same rows, with names where a model knows names."""
    return pd.DataFrame(X, columns=["α", "b", "c d", "e"]) if "names" in name else X


def main() -> None:
    X = rows()
    folder = HERE / f"format-{FORMAT_VERSION}"
    folder.mkdir()
    expected = {"rows": X}
    for name, make in MODELS.items():
        training = rows_for(name, X)
        if name.endswith("streamed"):
            np.save(folder / "rows.npy", X)
            training, stream.DRAWN_ROWS = folder / "rows.npy", 32
        model = make().fit(training)
        if name.endswith("streamed"):
            os.unlink(training)
        model.save(folder / f"{name}.scedae")
        given = rows_for(name, X)
        expected[f"{name}.labels"] = model.predict(given)
        expected[f"{name}.embedding"] = model.transform(given)
        if hasattr(model, "predict_confidence"):
            expected[f"{name}.confidence"] = model.predict_confidence(given)
    np.savez_compressed(folder / "expected.npz", **expected)


if __name__ == "__main__":
    main()
