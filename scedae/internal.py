"""The door for experiments: parts of the method that no estimator needs apart.

Nothing here is promised to stay. Who repeats the tables of the paper, or tries another
tail on the same encodings, finds the pieces here instead of reaching into the house.
"""

from scedae._ensemble import CodeRows, EncodedEnsemble, EncodedMember, encode_members
from scedae._pipeline import PipelineFit, Tail, cluster_members
from scedae._prepared import Prepared
from scedae._threads import one_blas_thread, own_threads

__all__ = [
    "CodeRows",
    "EncodedEnsemble",
    "EncodedMember",
    "PipelineFit",
    "Prepared",
    "Tail",
    "cluster_members",
    "encode_members",
    "one_blas_thread",
    "own_threads",
]
