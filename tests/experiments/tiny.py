"""The whole of ``scedae.experiments`` on 90 rows, in seconds.

Run as a script it is a process that tests can kill: ``python tiny.py FOLDER WORKERS``.
Workers import it too, so what is set up here holds in them.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from sklearn.datasets import make_blobs

from scedae.experiments import data_sets, runner
from scedae.experiments.results import pages
from scedae.experiments.specification import MapSpec, load_specification

# What the process does that is killed.
STOPPED = ["baselines", "landmarks", "embedding"]


READINGS = (
    "first k vectors",
    "library defaults, ReLU code, release's bandwidth, all averaged",
)


def load_blobs(source, subset, max_rows):
    return data_sets.DataSet(*make_blobs(90, 5, centers=3, random_state=0))


def specification(*, quick=False):
    """The paper's, with everything small; the structures keep their names."""
    paper = load_specification()
    names = ("as chosen", "code width 5", "half the bandwidth", "a fifth of the epochs")
    return replace(
        paper,
        is_quick=quick,
        structures=paper.structures[:2],
        epochs=(1, 5),
        ensemble_epochs=5,
        initializations=2,
        replicates=2,
        landmarks=(20, 30),
        ensemble_landmarks=20,
        landmark_ensemble=(15, 20),
        width_divisor=50,
        joint_methods=("dcn", "idec", "dkm-pretrained"),
        joint_changes={"pretrain_epochs": 2, "epochs": 2},
        shapes=replace(
            paper.shapes,
            sources=["generated"],
            scales=["minmax"],
            liftings=["square"],
            hidden_layers=[10, 15, 20],
            epochs=2,
            n_landmarks=20,
        ),
        maps={key: MapSpec(5, 50, 250) for key in paper.data},
        variants={name: paper.variants[name] for name in names},
        variant_initializations=1,
        readings={
            name: replace(paper.readings[name], data=("usps",)) for name in READINGS
        },
        member_counts=(1, 3),
        default_data=("pendigits",),
        max_rows=90,
    )


def set_up(set_attribute=setattr):
    """Put the small world in place of the paper's."""
    set_attribute(data_sets, "_load", load_blobs)
    for module in (runner, pages):
        set_attribute(module, "load_specification", specification)


if __name__ == "__main__":
    set_up()
    folder, n_workers = sys.argv[1:]
    runner.run(STOPPED, folder=folder, data=["usps"], workers=int(n_workers))
elif __name__ == "__mp_main__":  # a worker of that process
    set_up()
