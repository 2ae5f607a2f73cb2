"""One run: cluster rows or kept encodings, and score the labels."""

from __future__ import annotations

import time

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from scedae._estimator import SCEDAE
from scedae._landmark_spectral import LandmarkSpectralClustering
from scedae._members import MemberSpec
from scedae._progress import Progress
from scedae._random import generator
from scedae._rows import MemoryRows, Scaler
from scedae.experiments.data_sets import DataSet, load_data
from scedae.experiments.environment import Place, scored
from scedae.experiments.kept_files import encoding_file, encoding_name, read_encoding
from scedae.experiments.other_tails import OtherTail, cluster_otherwise
from scedae.experiments.plan import PaperRun
from scedae.experiments.specification import Specification, structure_name
from scedae.experiments.store import Record
from scedae.internal import (
    CodeRows,
    EncodedEnsemble,
    EncodedMember,
    PipelineFit,
    Scale,
    Tail,
    cluster_members,
    one_blas_thread,
    own_threads,
)

# The default of scikit-learn when the paper was written.
_KMEANS_STARTS = 10


def carry_out(run: PaperRun, place: Place) -> Record:
    """Labels of a run on a data set, as a record with its scores."""
    data = load_data(place.specification, run.data)
    device = place.clustering_device(len(data.rows))
    if run.method.endswith("kmeans"):
        device = torch.device("cpu")  # scikit-learn's
    start = time.perf_counter()
    labels = _labels(run, place, data, device)
    seconds = time.perf_counter() - start
    return scored(run, data, labels, place.specification.seed, device, seconds)


def _labels(
    run: PaperRun, place: Place, data: DataSet, device: torch.device
) -> np.ndarray:
    seed = run.seed(place.specification.seed)
    if run.method == "kmeans":
        rows = data.rows.astype(np.float32)
        points = normalize(rows) if run.variant == "l2" else rows
        return _kmeans(points, data.n_clusters, seed)
    if run.method == "lsc" and run.experiment == "readings":
        return _read_rows(run, place, data, device)
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
    variant = place.specification.variant(run.variant)
    if variant is not None and variant.tail:
        codes = [m.codes for m in _encoded_members(run, place, device)]
        counts = [spec.n_landmarks for _, spec in run_members(run, place.specification)]
        return cluster_otherwise(
            codes, counts, data.n_clusters, OtherTail(**variant.tail), seed
        )
    fit = cluster_encodings(run, place, data, device)
    # A network that gives one code to all rows puts them into one cluster.
    return np.zeros(len(data.rows), int) if fit is None else fit.labels


def _read_rows(
    run: PaperRun, place: Place, data: DataSet, device: torch.device
) -> np.ndarray:
    """LSC by a reading, on rows as networks would see them."""
    specification = place.specification
    rows = data.rows.astype(np.float32)  # in [0, 1]
    if specification.data[run.data].scale == "l2":
        rows = normalize(rows)
    tail = OtherTail(**specification.readings[run.variant].tail)
    codes, seed = torch.from_numpy(rows).to(device), run.seed(specification.seed)
    return cluster_otherwise(
        [codes], [run.n_landmarks or 2], data.n_clusters, tail, seed
    )


def _kmeans(points: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    model = KMeans(n_clusters, n_init=_KMEANS_STARTS, random_state=seed)
    return model.fit_predict(points)


def _kmeans_of_codes(
    run: PaperRun, place: Place, data: DataSet, seed: int
) -> np.ndarray:
    (name,) = (name for name, _ in run_members(run, place.specification))
    path = encoding_file(place.folder, run.data, None)
    codes = read_encoding(path, name, torch.device("cpu"))
    if codes is None:
        return np.zeros(len(data.rows), int)
    return _kmeans(codes.numpy(), data.n_clusters, seed)


def cluster_encodings(
    run: PaperRun, place: Place, data: DataSet, device: torch.device
) -> PipelineFit | None:
    """The verbs after ``encode`` on kept encodings; None if all had collapsed."""
    specification = place.specification
    variant = specification.variant(run.variant)
    members = _encoded_members(run, place, device)
    if not members:
        return None
    changed = variant.clustering if variant else {}
    preset = SCEDAE.paper(data.n_clusters)
    tail = Tail(
        (Scale(changed.get("n_neighbors", preset.n_neighbors)),),
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


def _encoded_members(
    run: PaperRun, place: Place, device: torch.device
) -> list[EncodedMember]:
    """The kept encodings that a run joins, without those of collapsed networks."""
    variant = place.specification.variant(run.variant)
    path = encoding_file(place.folder, run.data, variant)
    members = []
    for number, (name, spec) in enumerate(run_members(run, place.specification)):
        codes = read_encoding(path, name, device)
        if codes is not None:
            members.append(EncodedMember(spec, number, None, CodeRows(codes)))
    return members


# The fitted pipeline is not kept: no new rows will ever be scaled by it.
_NO_SCALER = Scaler("none", True, torch.empty(0), torch.empty(0))


def run_members(
    run: PaperRun, specification: Specification
) -> list[tuple[str, MemberSpec]]:
    """Names of the encodings a run joins, and how each is anchored."""
    structures = [run.structure]
    starts, epochs = [run.initialization or 0], [run.epochs or 0]
    counts = [run.n_landmarks or 2]
    if run.method == "ens-members":
        return _drawn_members(run, specification)
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


def _drawn_members(
    run: PaperRun, specification: Specification
) -> list[tuple[str, MemberSpec]]:
    """Some networks of any structure and start; a larger draw holds the smaller one."""
    networks = [
        (structure, start)
        for structure in specification.structures
        for start in range(specification.initializations)
    ]
    random = generator(specification.seed, "members", run.replicate)
    order = torch.randperm(len(networks), generator=random)[: int(run.variant)].tolist()
    epochs, p = run.epochs or 0, run.n_landmarks or 2
    return [
        (
            encoding_name(structure_name(structure), start, epochs),
            MemberSpec(structure, epochs, p, start),
        )
        for structure, start in (networks[number] for number in order)
    ]
