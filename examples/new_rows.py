"""Fit on some rows, save the model, and let another program label new ones."""

from __future__ import annotations

import tempfile
from pathlib import Path

from scedae import SCEDAE
from scedae.datasets import make_chainlink
from scedae.metrics import clustering_accuracy

X, y = make_chainlink(600, random_state=0)
path = Path(tempfile.mkdtemp()) / "rings.scedae"

# %% Today: two rings that no plane separates.
model = SCEDAE(n_clusters=2, epochs=100, random_state=0).fit(X)
model.save(path)
print(f"accuracy on the rows of the fit: {clustering_accuracy(y, model.labels_):.3f}")

# %% Tomorrow: rows that were not there.
new_X, new_y = make_chainlink(400, random_state=1)
labels = SCEDAE.load(path).predict(new_X)
print(f"accuracy on new rows: {clustering_accuracy(new_y, labels):.3f}")
