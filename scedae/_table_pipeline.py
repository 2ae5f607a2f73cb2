"""A table in, clusters out: the encoder and the clusterer as one estimator."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from scedae._estimator import SCEDAE
from scedae._tables.encoder import TableEncoder

# What tables of mixed columns ask for: docs/tables.md has the numbers. Columns that say
# nothing are common in them, and a network learns those as well as the others; so
# most members work on the rows. Few landmarks, and ties to many of them: categories
# cut rows into many small heaps, and a graph of near ties takes heaps for clusters.
_N_MEMBERS, _N_ROW_MEMBERS, _N_NEIGHBORS = 1, 6, 30
_LANDMARKS_OF_A_CLUSTER, _FEWEST_LANDMARKS = 40, 160


def table_parameters(
    n_clusters: int | str, n_rows: int | None = None
) -> dict[str, Any]:
    """Parameters of ``SCEDAE`` for the rows that a ``TableEncoder`` makes.

    Few rows, if their number is told, keep the graphs that every fit tries.
    """
    known = n_clusters if isinstance(n_clusters, int) else 0
    n_landmarks = max(_LANDMARKS_OF_A_CLUSTER * known, _FEWEST_LANDMARKS)
    parameters: dict[str, Any] = {
        "scale": "none",
        "n_members": _N_MEMBERS,
        "n_row_members": _N_ROW_MEMBERS,
    }
    if n_rows is None or n_rows >= 2 * n_landmarks:
        parameters.update(n_neighbors=_N_NEIGHBORS, n_landmarks=n_landmarks)
    return parameters


def make_table_pipeline(
    n_clusters: int | str = 8, *, encoder: TableEncoder | None = None, **parameters: Any
) -> Pipeline:
    """A pipeline that clusters a table of mixed columns.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
    encoder : TableEncoder, default=None
        None takes one with its defaults.
    **parameters
        Those of ``SCEDAE``. Unless given, ``scale`` is "none", since the encoder has
        brought the columns to one scale, and members and landmarks are those that
        ``docs/tables.md`` names for tables.

    Returns
    -------
    pipeline : sklearn.pipeline.Pipeline
        Steps ``encode`` (TableEncoder) and ``cluster`` (SCEDAE).

    Examples
    --------
    >>> from scedae import make_table_pipeline
    >>> pipeline = make_table_pipeline(5, effort="fast", random_state=0)
    >>> [name for name, step in pipeline.steps]
    ['encode', 'cluster']
    """
    clusterer = SCEDAE(n_clusters, **(table_parameters(n_clusters) | parameters))
    return Pipeline([("encode", encoder or TableEncoder()), ("cluster", clusterer)])
