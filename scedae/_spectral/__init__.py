"""Landmark spectral clustering as kernels on rows. Knows nothing of autoencoders."""

from scedae._spectral.affinity import (
    Affinity,
    FusedAffinity,
    Neighbors,
    fuse,
    inverse_root,
    landmark_affinity,
    mean_distance,
    unfuse,
)
from scedae._spectral.calibration import Calibration, probabilities
from scedae._spectral.confidence import (
    MOST_REJECTED,
    combine,
    confidence_at,
    doubt_quantiles,
    landmark_votes,
    margin,
    margin_of_answers,
    vote,
)
from scedae._spectral.distances import nearest
from scedae._spectral.embedding import (
    DENSE_LIMIT,
    EMBEDDINGS,
    KEPT_AT_A_GAP,
    KEPT_OF_LAST_VECTOR,
    MOST_TIME,
    Basis,
    diffusion_time,
    embed,
    embedding_matrix,
    embedding_time,
    n_vectors,
    spectral_basis,
    trivial_vector,
)
from scedae._spectral.factored import gram_of
from scedae._spectral.gram import Gram, Symmetric, gram_matrix
from scedae._spectral.judge import (
    MOST_JUDGED,
    GraphCandidate,
    Judge,
    Verdict,
    times_the_others,
)
from scedae._spectral.kmeans import kmeans, revive_empty
from scedae._spectral.landmarks import (
    LANDMARK_METHODS,
    Encoding,
    choose_landmarks,
)
from scedae._spectral.layers import (
    LAYER_TIMES,
    Layer,
    Tree,
    grow_tree,
    is_tree,
    merging_coordinates,
    splitting_time,
)
from scedae._spectral.metric import round_clusters
from scedae._spectral.near_rows import NearRows
from scedae._spectral.novelty import distance_ratio, usual_distances
from scedae._spectral.number import Candidate, best_of_each, candidates_for, counted
from scedae._spectral.panel import (
    Panel,
    agreement_beyond_chance,
    stable_layers,
    weigh_numbers,
)
from scedae._spectral.partition import STARTS, Partition, partition_rows
from scedae._spectral.search import Search, nearest_landmarks

__all__ = [
    "DENSE_LIMIT",
    "EMBEDDINGS",
    "KEPT_AT_A_GAP",
    "KEPT_OF_LAST_VECTOR",
    "LANDMARK_METHODS",
    "LAYER_TIMES",
    "MOST_JUDGED",
    "MOST_REJECTED",
    "MOST_TIME",
    "STARTS",
    "Affinity",
    "Basis",
    "Calibration",
    "Candidate",
    "Encoding",
    "FusedAffinity",
    "Gram",
    "GraphCandidate",
    "Judge",
    "Layer",
    "NearRows",
    "Neighbors",
    "Panel",
    "Partition",
    "Search",
    "Symmetric",
    "Tree",
    "Verdict",
    "agreement_beyond_chance",
    "best_of_each",
    "candidates_for",
    "choose_landmarks",
    "combine",
    "confidence_at",
    "counted",
    "diffusion_time",
    "distance_ratio",
    "doubt_quantiles",
    "embed",
    "embedding_matrix",
    "embedding_time",
    "fuse",
    "gram_matrix",
    "gram_of",
    "grow_tree",
    "inverse_root",
    "is_tree",
    "kmeans",
    "landmark_affinity",
    "landmark_votes",
    "margin",
    "margin_of_answers",
    "mean_distance",
    "merging_coordinates",
    "n_vectors",
    "nearest",
    "nearest_landmarks",
    "partition_rows",
    "probabilities",
    "revive_empty",
    "round_clusters",
    "spectral_basis",
    "splitting_time",
    "stable_layers",
    "times_the_others",
    "trivial_vector",
    "unfuse",
    "usual_distances",
    "vote",
    "weigh_numbers",
]
