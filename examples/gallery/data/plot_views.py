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
y = generator.integers(0, 3, 600)
form = np.array([0, 1, 1])[y]  # this view cannot tell the last two groups apart
color = np.array([0, 0, 1])[y]  # and this one not the first two
shapes = np.outer(form, generator.normal(size=12) * 2)
colors = np.outer(color, generator.normal(size=30) * 1.2)
shapes, colors = (view + generator.normal(size=view.shape) for view in (shapes, colors))
views = {"form": shapes, "colour": 50 * colors}  # units need not agree

# %%
# Asked for three clusters, a single view warns that they are no sure thing; the example
# lets that pass.
warnings.simplefilter("ignore")
together = SCEDAE(3, effort="fast", random_state=0).fit(views)
answers = {
    "form alone": SCEDAE(3, effort="fast", random_state=0).fit_predict(shapes),
    "colour alone": SCEDAE(3, effort="fast", random_state=0).fit_predict(colors),
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
