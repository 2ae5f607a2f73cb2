"""
``scale``: columns of different units
=====================================

Distances add up over columns, so a column in large units decides alone. ``"auto"``
looks at the columns and chooses: pixels stay as they are, counts are logged, columns of
different units are standardised.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

from scedae import SCEDAE
from scedae.datasets import load_digits, make_lsun
from scedae.metrics import evaluate

warnings.simplefilter("ignore")
generator = np.random.default_rng(0)
lsun, of_lsun = make_lsun(500, random_state=0)
units = lsun * [1, 400]  # metres and millimetres, say
digits, of_digit = load_digits()
counts = generator.poisson(
    np.exp(generator.normal(0, 0.3, (600, 30)))
    * np.repeat([[1] * 15 + [8] * 15, [8] * 15 + [1] * 15], 300, axis=0)
    * np.exp(generator.normal(0, 0.8, (600, 1)))
)
sets = {
    "lsun, second column × 400": (units, of_lsun, 3),
    "digits (pixels)": (digits[:900], of_digit[:900], 10),
    "counts of unequal depth": (counts, np.repeat([0, 1], 300), 2),
}
scales = ("auto", "none", "range", "minmax", "standard", "log", "l2")
figure, ax = plt.subplots(figsize=(9.5, 4), layout="constrained")
for place, (X, y, k) in enumerate(sets.values()):
    for offset, scale in enumerate(scales):
        model = SCEDAE(k, effort="fast", epochs=15, scale=scale, random_state=0)
        score = evaluate(y, model.fit_predict(X))["ari"]
        right = place + 0.11 * (offset - 3)
        bar = ax.bar(right, score, 0.1, color="C0" if scale == "auto" else "0.78")
        ax.text(right, 0.02, scale, rotation=90, ha="center", va="bottom", fontsize=8)
        ax.bar_label(bar, [f"{score:.2f}"], fontsize=7)
ax.set_xticks(range(3), list(sets))
ax.set(ylabel="adjusted Rand index", ylim=(0, 1.1))
ax.tick_params(axis="x", length=0)
plt.show()
