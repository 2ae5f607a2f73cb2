"""
``epochs``, ``encoding_dim`` and ``n_members``: how much the networks learn
===========================================================================

Three parameters of the autoencoders, one at a time, on two data sets. Members on the
rows are left out, so that it is the networks alone that answer.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE
from scedae.datasets import lift, load_digits, make_lsun
from scedae.metrics import evaluate

warnings.simplefilter("ignore")  # some of these settings are poor on purpose
digits, of_digit = load_digits()
shape, of_shape = make_lsun(400, random_state=0)
sets = {
    "digits": (digits[:500], of_digit[:500], 10),
    "lsun in 100 columns": (lift(shape, "sigmoid", random_state=0), of_shape, 3),
}
base = {
    "n_members": 2,
    "n_row_members": 0,
    "epochs": 20,
    "n_landmarks": 150,
    "n_neighbors": 5,
}
tried = {
    "epochs": (1, 3, 10, 30),
    "encoding_dim": (1, 2, 5, 10),
    "n_members": (1, 2, 4),
}
seeds = (0, 1)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
for ax, (parameter, values) in zip(axes, tried.items(), strict=True):
    for color, (name, (X, y, k)) in enumerate(sets.items()):
        scores = np.array(
            [
                [
                    evaluate(
                        y,
                        SCEDAE(
                            k, **(base | {parameter: value}), random_state=seed
                        ).fit_predict(X),
                    )["ari"]
                    for seed in seeds
                ]
                for value in values
            ]
        )
        places = np.arange(len(values))
        ax.plot(places, scores.mean(1), "o-", color=f"C{color}", label=name)
        ax.fill_between(
            places, scores.min(1), scores.max(1), color=f"C{color}", alpha=0.2, lw=0
        )
    ax.set_xticks(places, values)
    ax.set(xlabel=parameter, ylim=(0, 1.03))
axes[0].set_ylabel("adjusted Rand index")
axes[0].legend(loc="lower right")
plt.show()

# %%
# Lines are means of two seeds, bands reach from the worst to the best. A code of one
# number is too narrow; more members than a few change little here, but narrow the band.
