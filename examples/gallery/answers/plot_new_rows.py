"""
New rows, and a model in a file
===============================

A fitted model labels rows it has never seen: each is encoded, tied to the landmarks,
and placed in the embedding (Nyström extension). Rows of the fit get exactly the label
they had. A saved model is one file without pickle.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from scedae import SCEDAE

X, _ = make_moons(500, noise=0.08, random_state=0)
model = SCEDAE(2, effort="fast", random_state=0).fit(X)
path = Path(tempfile.mkdtemp()) / "moons.scedae"
model.save(path)
print(f"{path.stat().st_size / 1024:.0f} kB")

# %%
# Another program loads the file and asks for every point of the plane: which cluster,
# and how sure. Confidence falls towards the border between the moons.
loaded = SCEDAE.load(path)
right, up = np.meshgrid(np.linspace(-1.6, 2.6, 130), np.linspace(-1.2, 1.7, 90))
plane = np.column_stack([right.ravel(), up.ravel()])
labels, confidence = loaded.predict_with_confidence(plane)
assert (loaded.predict(X) == model.labels_).all()

figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.6), layout="constrained")
box = (-1.6, 2.6, -1.2, 1.7)
field = np.zeros((*right.shape, 4))
for cluster in (0, 1):
    rgb = plt.matplotlib.colors.to_rgb(f"C{cluster}")
    field[labels.reshape(right.shape) == cluster, :3] = rgb
field[..., 3] = 0.35
axes[0].imshow(field, origin="lower", extent=box, aspect="auto")
axes[0].scatter(*X.T, c=[f"C{label}" for label in model.labels_], s=7)
axes[0].set_title("cluster of every point")
shade = axes[1].imshow(
    confidence.reshape(right.shape),
    origin="lower",
    extent=box,
    aspect="auto",
    cmap="Greys_r",
    vmin=0,
)
axes[1].scatter(*X.T, c=[f"C{label}" for label in model.labels_], s=7)
axes[1].set_title("confidence of every point")
figure.colorbar(shade, ax=axes[1])
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
