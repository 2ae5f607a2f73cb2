"""Clustering of unlabelled rows by spectral fusion of an ensemble of autoencoders."""

from typing import TYPE_CHECKING

from scedae._lazy import on_demand
from scedae._version import __version__

if TYPE_CHECKING:
    from scedae import datasets, exceptions, metrics
    from scedae._estimator import SCEDAE
    from scedae._landmark_spectral import LandmarkSpectralClustering
    from scedae._members import MemberSpec
    from scedae._model import FittedPipeline, MemberReport
    from scedae._suggest_clusters import suggest_clusters
    from scedae._suggestion import ClusterSuggestion

__all__ = [
    "SCEDAE",
    "ClusterSuggestion",
    "FittedPipeline",
    "LandmarkSpectralClustering",
    "MemberReport",
    "MemberSpec",
    "__version__",
    "datasets",
    "exceptions",
    "metrics",
    "suggest_clusters",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "SCEDAE": "scedae._estimator",
        "ClusterSuggestion": "scedae._suggestion",
        "FittedPipeline": "scedae._model",
        "LandmarkSpectralClustering": "scedae._landmark_spectral",
        "MemberReport": "scedae._model",
        "MemberSpec": "scedae._members",
        "datasets": "scedae.datasets",
        "exceptions": "scedae.exceptions",
        "metrics": "scedae.metrics",
        "suggest_clusters": "scedae._suggest_clusters",
    },
)
