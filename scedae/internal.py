"""The door for experiments: parts of the method that no estimator needs apart.

Nothing here is promised to stay. Who repeats the tables of the paper, or tries another
tail on the same encodings, finds the pieces here instead of reaching into the house.
"""

from scedae._anchoring import Tail
from scedae._autoencoder import Variation
from scedae._defaults import Scale
from scedae._encoded import CodeRows, EncodedEnsemble, EncodedMember
from scedae._ensemble import encode_members
from scedae._pipeline import PipelineFit, cluster_members
from scedae._prepared import Prepared
from scedae._threads import one_blas_thread, own_threads

__all__ = [
    "CodeRows",
    "EncodedEnsemble",
    "EncodedMember",
    "PipelineFit",
    "Prepared",
    "Scale",
    "Tail",
    "Variation",
    "cluster_members",
    "encode_members",
    "one_blas_thread",
    "own_threads",
]
