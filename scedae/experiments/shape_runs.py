"""The synthetic shapes: lifted into 100 dimensions, clustered, drawn by B."""

from __future__ import annotations

import time
import warnings

import numpy as np

from scedae import datasets
from scedae._device import resolve_device
from scedae._estimator import SCEDAE
from scedae.exceptions import CollapsedEnsembleError, CollapsedMemberWarning
from scedae.experiments.data_sets import DataSet
from scedae.experiments.environment import Place, scored
from scedae.experiments.kept_files import points_file, write_points
from scedae.experiments.plan import PaperRun
from scedae.experiments.store import Record

_GENERATORS = {
    "tetra": datasets.make_tetra,
    "chainlink": datasets.make_chainlink,
    "lsun": datasets.make_lsun,
}


def cluster_shape(run: PaperRun, place: Place) -> Record:
    """Lift, fit and score one shape; the first replicate is kept for the picture."""
    specification = place.specification
    settings = specification.shapes
    seed = run.seed(specification.seed)
    source, scale, *batch = run.variant.split("-")
    flat = load_shape(run.data, source, seed)
    lifted = datasets.lift(flat.rows, run.method, random_state=seed)
    # Networks this small train faster where they need not be handed over.
    device = resolve_device("cpu")
    start = time.perf_counter()
    model = SCEDAE.paper(
        flat.n_clusters,
        hidden_layers=tuple(settings.hidden_layers),
        epochs=settings.epochs,
        n_landmarks=settings.n_landmarks,
        batch_size=int(batch[0]) if batch else specification.batch_size,
        scale=scale,
        random_state=seed,
        device=device,
    )
    labels, embedding = _fit(model, lifted)
    seconds = time.perf_counter() - start
    if run.replicate == 0:
        write_points(
            points_file(place.folder, run),
            flat=flat.rows.astype(np.float32),
            embedding=embedding[:, :2].astype(np.float32),
            labels=labels.astype(np.uint8),
        )
    return scored(run, flat, labels, specification.seed, device, seconds)


def _fit(model: SCEDAE, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and B; networks that give one code to all rows make one cluster."""
    try:
        with warnings.catch_warnings():
            # Members that collapsed are left out: what the method does, not news.
            warnings.simplefilter("ignore", CollapsedMemberWarning)
            model.fit(rows)
    except CollapsedEnsembleError:
        return np.zeros(len(rows), int), np.zeros((len(rows), 2))
    return model.labels_, model.embedding_


def load_shape(shape: str, source: str, seed: int) -> DataSet:
    """A shape before it is lifted, from its file or from our generator."""
    if source == "file":
        return DataSet(*datasets.load_fcps(shape))
    return DataSet(*_GENERATORS[shape](random_state=seed))
