"""Clustering of unlabelled rows by spectral fusion of an ensemble of autoencoders."""

from scedae import datasets, exceptions, metrics
from scedae._estimator import SCEDAE
from scedae._landmark_spectral import LandmarkSpectralClustering
from scedae._members import MemberSpec
from scedae._suggest_clusters import suggest_clusters
from scedae._suggestion import ClusterSuggestion
from scedae._version import __version__

__all__ = [
    "SCEDAE",
    "ClusterSuggestion",
    "LandmarkSpectralClustering",
    "MemberSpec",
    "__version__",
    "datasets",
    "exceptions",
    "metrics",
    "suggest_clusters",
]
