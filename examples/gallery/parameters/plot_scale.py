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

from scedae import SCEDAE
from scedae.datasets import load_digits, make_lsun
from scedae.metrics import evaluate

warnings.simplefilter("ignore")
lsun, of_lsun = make_lsun(500, random_state=0)
units = lsun * [1, 400]  # metres and millimetres, say
digits, of_digit = load_digits()
sets = {
    "lsun, second column × 400": (units, of_lsun, 3),
    "digits (pixels)": (digits[:900], of_digit[:900], 10),
}
scales = ("auto", "none", "range", "minmax", "standard", "power", "log", "l2")
figure, ax = plt.subplots(figsize=(9.5, 4), layout="constrained")
for place, (X, y, k) in enumerate(sets.values()):
    for offset, scale in enumerate(scales):
        model = SCEDAE(k, effort="fast", epochs=15, scale=scale, random_state=0)
        score = evaluate(y, model.fit_predict(X))["ari"]
        right = place + 0.11 * (offset - 3)
        bar = ax.bar(right, score, 0.1, color="C0" if scale == "auto" else "0.78")
        text = ax.text(right, 0.02, scale, rotation=90, ha="center", va="bottom")
        text.set(fontsize=9, color="white" if scale == "auto" else "black")
        ax.bar_label(bar, [f"{score:.2f}"], fontsize=7)
ax.set_xticks(range(2), list(sets))
ax.set(ylabel="adjusted Rand index", ylim=(0, 1.1))
ax.tick_params(axis="x", length=0)
plt.show()
