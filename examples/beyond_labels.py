"""More than a label: chances, doubt, novelty, and other numbers of clusters.

One fit on handwritten digits without the 8, and what it says of rows it never saw.
"""

import numpy as np

from scedae import SCEDAE
from scedae.datasets import load_digits

X, y = load_digits()
known = np.flatnonzero(y != 8)
learnt, other = known[::2], known[1::2]
eights = np.flatnonzero(y == 8)
model = SCEDAE(9, effort="fast", random_state=0).fit(X[learnt])

# Chances of all clusters. They add up to the number of rows to expect in each.
chances = model.predict_proba(X[other])
sure = chances.max(axis=1)
print(f"{np.mean(sure > 0.9):.0%} of the new rows have a chance of over 0.9")
print("rows to expect in each cluster:", chances.sum(axis=0).round().astype(int))

# Rows between clusters get no label, at the rate that the rows of the fit had.
labels = model.predict(X[other], reject=0.05)
print(f"{np.mean(labels == -1):.1%} of the new rows are rejected")

# Rows unlike all of the fit: 1 is usual, and the eights were never seen.
limit = np.quantile(model.novelty_score(X[other]), 0.95)
found = np.mean(model.novelty_score(X[eights]) > limit)
print(f"{found:.0%} of the eights lie farther outside than 95% of other new rows")

# Coarser and finer clusters of the same fit.
for layer in model.layers_:
    sizes = np.bincount(model.labels_at(layer.n_clusters))
    print(f"{layer.n_clusters} clusters, stability {layer.stability:.2f}: {sizes}")
