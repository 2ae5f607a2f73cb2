"""One run: cluster rows or kept encodings, and score the labels."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from scedae._device import resolve_device
from scedae._estimator import SCEDAE
from scedae._landmark_spectral import LandmarkSpectralClustering
from scedae._members import MemberSpec
from scedae._progress import Progress
from scedae._rows import MemoryRows, Scaler
from scedae.experiments.data import DataSet, load
from scedae.experiments.encodings import encoding_file, encoding_name, read_encoding
from scedae.experiments.environment import circumstances
from scedae.experiments.plan import Run
from scedae.experiments.specification import Specification, structure_name
from scedae.experiments.store import Record
from scedae.internal import (
    CodeRows,
    EncodedEnsemble,
    EncodedMember,
    PipelineFit,
    Tail,
    cluster_members,
    one_blas_thread,
    own_threads,
)
from scedae.metrics import evaluate

# The default of scikit-learn when the paper was written.
_KMEANS_STARTS = 10

# Below this many rows a CPU core clusters faster than a GPU is told what to do.
_GPU_ROWS = 20_000


@dataclass(frozen=True)
class Place:
    """Where runs find their encodings, and what they compute on."""

    specification: Specification
    folder: Path
    device: str

    def clustering_device(self, n_rows: int) -> torch.device:
        return resolve_device(self.device if n_rows >= _GPU_ROWS else "cpu")


def cluster(run: Run, place: Place) -> Record:
    """Labels of a run on a data set, as a record with its scores."""
    data = load(place.specification, run.data)
    device = place.clustering_device(len(data.rows))
    if run.method.endswith("kmeans"):
        device = torch.device("cpu")  # scikit-learn's
    start = time.perf_counter()
    labels = _labels(run, place, data, device)
    seconds = time.perf_counter() - start
    return scored(run, data, labels, place.specification.seed, device, seconds)


def scored(
    run: Run,
    data: DataSet,
    labels: np.ndarray,
    root_seed: int,
    device: torch.device,
    seconds: float,
) -> Record:
    """The record of labels."""
    scores = evaluate(data.classes, labels)
    return {
        **asdict(run),
        "seed": run.seed(root_seed),
        "scores": {metric: round(value, 6) for metric, value in scores.items()},
        **circumstances(device, len(labels), seconds),
    }


def _labels(run: Run, place: Place, data: DataSet, device: torch.device) -> np.ndarray:
    seed = run.seed(place.specification.seed)
    if run.method == "kmeans":
        rows = data.rows.astype(np.float32)
        points = normalize(rows) if run.variant == "l2" else rows
        return _kmeans(points, data.n_clusters, seed)
    if run.method == "lsc":
        model = LandmarkSpectralClustering(
            data.n_clusters,
            n_landmarks=run.n_landmarks or "auto",
            scale=run.variant or "range",
            random_state=seed,
            device=device,
        )
        return model.fit(data.rows).labels_
    if run.method == "dae-kmeans":
        return _kmeans_of_codes(run, place, data, seed)
    fit = cluster_encodings(run, place, data, device)
    # A network that gives one code to all rows puts them into one cluster.
    return np.zeros(len(data.rows), int) if fit is None else fit.labels


def _kmeans(points: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    model = KMeans(n_clusters, n_init=_KMEANS_STARTS, random_state=seed)
    return model.fit_predict(points)


def _kmeans_of_codes(run: Run, place: Place, data: DataSet, seed: int) -> np.ndarray:
    (name,) = (name for name, _ in run_members(run, place.specification))
    path = encoding_file(place.folder, run.data, None)
    codes = read_encoding(path, name, torch.device("cpu"))
    if codes is None:
        return np.zeros(len(data.rows), int)
    return _kmeans(codes.numpy(), data.n_clusters, seed)


def cluster_encodings(
    run: Run, place: Place, data: DataSet, device: torch.device
) -> PipelineFit | None:
    """The verbs after ``encode`` on kept encodings; None if all had collapsed."""
    specification = place.specification
    variant = specification.variants.get(run.variant)
    path = encoding_file(place.folder, run.data, variant)
    members = []
    for number, (name, spec) in enumerate(run_members(run, specification)):
        codes = read_encoding(path, name, device)
        if codes is not None:
            members.append(EncodedMember(spec, number, None, CodeRows(codes)))
    if not members:
        return None
    changed = variant.clustering if variant else {}
    preset = SCEDAE.paper(data.n_clusters)
    tail = Tail(
        n_neighbors=changed.get("n_neighbors", preset.n_neighbors),
        embedding=changed.get("embedding", preset.embedding),
        bandwidth_factor=changed.get("bandwidth_factor", 1.0),
        whitened=False,  # the published methods end with k-means
        split_halves=False,  # thousands of runs, and no table asks for stability
    )
    encoded = EncodedEnsemble(members, (), MemoryRows(data.rows))
    seed = run.seed(specification.seed)
    with own_threads(), one_blas_thread:
        return cluster_members(
            encoded, _NO_SCALER, data.n_clusters, tail, seed, Progress()
        )


# The fitted pipeline is not kept: no new rows will ever be scaled by it.
_NO_SCALER = Scaler("none", True, torch.empty(0), torch.empty(0))


def run_members(run: Run, specification: Specification) -> list[tuple[str, MemberSpec]]:
    """Names of the encodings a run joins, and how each is anchored."""
    structures = [run.structure]
    starts, epochs = [run.initialization or 0], [run.epochs or 0]
    counts = [run.n_landmarks or 2]
    if run.method in ("ens-struct", "embedding"):
        structures = [structure_name(s) for s in specification.structures]
    elif run.method == "ens-init":
        starts = list(range(specification.initializations))
    elif run.method == "ens-ep":
        epochs = list(specification.epochs)
    elif run.method == "ens-landmarks":
        counts = list(specification.landmark_ensemble)
    return [
        (
            encoding_name(structure, start, epoch),
            MemberSpec(tuple(map(int, structure.split("-"))), epoch, p, start),
        )
        for structure in structures
        for start in starts
        for epoch in epochs
        for p in counts
    ]
