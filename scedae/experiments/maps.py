"""t-SNE of B: the embedding of the structure ensemble, then two coordinates for it."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from scedae.experiments.clustering import cluster_encodings
from scedae.experiments.data_sets import load_data
from scedae.experiments.environment import Place, circumstances, scored
from scedae.experiments.kept_files import points_file, read_points, write_points
from scedae.experiments.plan import PaperRun
from scedae.experiments.store import Record


def embedding_file(folder: Path, data: str) -> Path:
    """B is as large as an encoding, and lies among them."""
    return folder / "encodings" / f"{data}-B.npz"


def embed_rows(run: PaperRun, place: Place) -> Record:
    """B of the structure ensemble, kept for the map."""
    data = load_data(place.specification, run.data)
    device = place.clustering_device(len(data.rows))
    start = time.perf_counter()
    fit = cluster_encodings(run, place, data, device)
    if fit is None:
        raise RuntimeError(f"all encodings of {run.data} collapsed: there is no B.")
    assert fit.embedding is not None  # there is one of all rows in memory
    path = embedding_file(place.folder, run.data)
    write_points(
        path,
        embedding=fit.embedding.astype(np.float32),
        classes=data.classes.astype(np.uint8),
    )
    seconds = time.perf_counter() - start
    return scored(run, data, fit.labels, place.specification.seed, device, seconds)


def draw_map(run: PaperRun, place: Place) -> Record:
    """t-SNE with the paper's settings; starts from the principal directions."""
    from sklearn.manifold import TSNE

    kept = read_points(embedding_file(place.folder, run.data))
    settings = place.specification.maps[run.data]
    seed = run.seed(place.specification.seed)
    start = time.perf_counter()
    model = TSNE(
        perplexity=settings.perplexity,
        learning_rate=settings.learning_rate,
        max_iter=settings.n_iterations,
        init="pca",
        random_state=seed,
        n_jobs=-1,
    )
    places = model.fit_transform(kept["embedding"])
    write_points(
        points_file(place.folder, run),
        places=places.astype(np.float16),
        classes=kept["classes"],
    )
    seconds = time.perf_counter() - start
    return {
        **asdict(run),
        "seed": seed,
        "divergence": round(float(model.kl_divergence_), 4),
        **circumstances(torch.device("cpu"), len(places), seconds),
    }
