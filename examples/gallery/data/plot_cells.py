"""
Single cells: counts of genes
=============================

Counts are skewed, mostly zero, and differ in depth from cell to cell. The usual
preparation (depth, logarithm, principal components) serves here too; with AnnData,
``scedae.anndata.cluster`` does the clustering in place. This example makes its own
cells, so that it needs no download.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from scedae import SCEDAE, plot
from scedae.metrics import evaluate

generator = np.random.default_rng(0)
n_types, n_genes, markers = 6, 400, 12
sizes = [300, 220, 160, 100, 60, 40]
of_type = np.repeat(np.arange(n_types), sizes)
base = generator.gamma(0.4, 1.0, n_genes)
rates = np.tile(base, (n_types, 1))
for cell_type in range(n_types):
    own = slice(cell_type * markers, (cell_type + 1) * markers)
    rates[cell_type, own] = 3 + 4 * generator.random(markers)
depth = np.exp(generator.normal(0, 0.5, len(of_type)))
counts = generator.poisson(depth[:, None] * generator.gamma(2, rates[of_type] / 2))

# %%
# Depth and logarithm as scanpy's ``normalize_total`` and ``log1p`` do it, then 20
# principal components.
logged = np.log1p(counts / counts.sum(1, keepdims=True) * 1e4)
X = PCA(20, random_state=0).fit_transform(logged)
model = SCEDAE(6, effort="fast", random_state=0).fit(X)
print(evaluate(of_type, model.labels_), f"stability {model.stability_:.2f}")

# %%
# A map of the cells, and how strongly each cluster uses each group of marker genes.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.4), width_ratios=(1, 1.1), layout="constrained"
)
plot.embedding(model, ax=left)
left.get_legend().remove()
order = np.argsort(
    [np.argmax(np.bincount(of_type[model.labels_ == c])) for c in range(6)]
)
means = np.array(
    [logged[model.labels_ == c][:, : n_types * markers].mean(0) for c in order]
)
means /= means.max(0)
image = right.imshow(means, aspect="auto", cmap="magma_r")
right.set_yticks(range(6), [f"cluster {c}" for c in order])
right.set_xticks(
    np.arange(6) * markers + markers / 2, [f"markers {t}" for t in range(6)]
)
right.tick_params(length=0, labelsize=8)
right.set_title("mean of marker genes, share of the highest")
figure.colorbar(image, ax=right, shrink=0.8)
plt.show()
