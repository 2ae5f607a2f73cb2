"""Clustering of unlabelled rows by spectral fusion of an ensemble of autoencoders."""

from typing import TYPE_CHECKING

from scedae._lazy import on_demand
from scedae._version import __version__

if TYPE_CHECKING:
    from scedae import datasets, exceptions, metrics
    from scedae._estimator import SCEDAE
    from scedae._landmark_spectral import LandmarkSpectralClustering
    from scedae._members import MemberSpec
    from scedae._model import FittedPipeline, FittedView, MemberReport, Refinement
    from scedae._spectral import GraphCandidate, Layer
    from scedae._suggest_clusters import suggest_clusters
    from scedae._suggestion import ClusterSuggestion
    from scedae._table_pipeline import make_table_pipeline
    from scedae._tables.encoder import TableEncoder
    from scedae._tables.table_files import read_table
    from scedae._views import View

__all__ = [
    "SCEDAE",
    "ClusterSuggestion",
    "FittedPipeline",
    "FittedView",
    "GraphCandidate",
    "LandmarkSpectralClustering",
    "Layer",
    "MemberReport",
    "MemberSpec",
    "Refinement",
    "TableEncoder",
    "View",
    "__version__",
    "datasets",
    "exceptions",
    "make_table_pipeline",
    "metrics",
    "read_table",
    "suggest_clusters",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "SCEDAE": "scedae._estimator",
        "ClusterSuggestion": "scedae._suggestion",
        "FittedPipeline": "scedae._model",
        "FittedView": "scedae._model",
        "GraphCandidate": "scedae._spectral",
        "LandmarkSpectralClustering": "scedae._landmark_spectral",
        "Layer": "scedae._spectral",
        "MemberReport": "scedae._model",
        "MemberSpec": "scedae._members",
        "Refinement": "scedae._model",
        "TableEncoder": "scedae._tables.encoder",
        "View": "scedae._views",
        "datasets": "scedae.datasets",
        "exceptions": "scedae.exceptions",
        "make_table_pipeline": "scedae._table_pipeline",
        "metrics": "scedae.metrics",
        "read_table": "scedae._tables.table_files",
        "suggest_clusters": "scedae._suggest_clusters",
    },
)
