"""
Several matrices of the same rows
=================================

Products have a picture and a text, cells have genes and proteins. ``fit`` takes all of
them: each view has its own scaling, networks and landmarks, and one answer comes of
all. Below, neither view tells all groups apart.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from scedae import SCEDAE
from scedae.metrics import evaluate

generator = np.random.default_rng(0)
y = generator.integers(0, 4, 600)
form, color = y // 2, y % 2  # one view sees the one half of the truth, one the other
shapes = np.outer(form, generator.normal(size=12) * 2) + generator.normal(
    size=(600, 12)
)
colors = np.outer(color, generator.normal(size=30) * 1.2) + generator.normal(
    size=(600, 30)
)
views = {"form": shapes, "colour": 50 * colors}  # units need not agree

# %%
# Asked for four clusters, a single view warns that they are no sure thing; the example
# lets that pass.
warnings.simplefilter("ignore")
together = SCEDAE(4, effort="fast", random_state=0).fit(views)
answers = {
    "form alone": SCEDAE(4, effort="fast", random_state=0).fit_predict(shapes),
    "colour alone": SCEDAE(4, effort="fast", random_state=0).fit_predict(colors),
    "both views": together.labels_,
}
for view in together.views_.values():
    print(f"{view.name}: {view.n_members} members, agreement {view.agreement:.2f}")

# %%
# Rows by the first direction of each view, coloured by the clusters of each answer.
places = np.column_stack(
    [PCA(1).fit_transform(view / view.std()) for view in (shapes, colors)]
)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, labels) in zip(axes, answers.items(), strict=True):
    ax.scatter(*places.T, c=[f"C{label}" for label in labels], s=9, linewidths=0)
    score = evaluate(y, labels)["ari"]
    ax.set(title=f"{name}: {score:.2f}", xticks=[], yticks=[], xlabel="form")
axes[0].set_ylabel("colour")
plt.show()
