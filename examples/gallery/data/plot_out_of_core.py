"""
Rows that stay in a file
========================

``fit("rows.npy")`` reads a file in blocks: what lies in memory at any time is a block,
a sample and sums, whatever the number of rows. Here 400,000 rows, which would fit; the
program is the same for a hundred times as many.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from scedae import LandmarkSpectralClustering

folder = Path(tempfile.mkdtemp())
n_rows = 400_000
rows = np.lib.format.open_memmap(
    folder / "rows.npy", "w+", dtype=np.float32, shape=(n_rows, 2)
)
generator = np.random.default_rng(0)
for start in range(0, n_rows, 100_000):  # written in parts, as a stream would be
    arm = generator.integers(0, 3, 100_000)
    reach = np.sqrt(generator.uniform(0.12, 1, 100_000)) * 3.2
    angle = 2 * np.pi * arm / 3 + 0.75 * reach
    place = np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])
    rows[start : start + 100_000] = place + generator.normal(0, 0.16, (100_000, 2))
rows.flush()

# %%
# ``SCEDAE`` takes a path in the same way; the method without networks is quicker here.
# Labels come back as a memory-mapped array.
model = LandmarkSpectralClustering(3, n_landmarks=300, random_state=0)
model.fit(folder / "rows.npy")
type(model.labels_), model.labels_.shape

# %%
# All rows, not a sample: each pixel has the colour of the clusters in it, and is darker
# where rows lie dense.
side, edge = 260, 3.9
pixel = np.clip(
    ((np.asarray(rows) + edge) / (2 * edge) * side).astype(int), 0, side - 1
)
counts = np.zeros((3, side, side))
np.add.at(counts, (np.asarray(model.labels_), pixel[:, 1], pixel[:, 0]), 1)
total = counts.sum(0)
rgb = np.tensordot(
    counts / np.maximum(total, 1),
    np.array([plt.matplotlib.colors.to_rgb(f"C{c}") for c in (0, 1, 2)]),
    axes=(0, 0),
)
alpha = np.clip((total / np.quantile(total[total > 0], 0.95)) ** 0.4, 0, 1)
figure, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
ax.imshow(np.dstack([rgb, alpha]), origin="lower")
ax.set(xticks=[], yticks=[])
ax.set_title(f"{n_rows:,} rows from a file")
ax.spines[:].set_visible(False)
plt.show()
