"""
Which rows are in doubt
=======================

``confidence_`` puts rows in order: errors gather among the least sure. It is no
probability, but it tells where to look first.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix

from scedae import SCEDAE, plot
from scedae.datasets import load_digits

X, y = load_digits()
model = SCEDAE(10, effort="fast", random_state=0).fit(X)

# %%
# Rows from the surest to the least sure, and the share of errors among all rows up to
# there (classes are used here to count errors, and for nothing else).
digits, clusters = linear_sum_assignment(-confusion_matrix(y, model.labels_))
wrong = digits[np.argsort(clusters)][model.labels_] != y
order = np.argsort(-model.confidence_)
share = np.arange(1, len(X) + 1) / len(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(100 * share, 100 * np.cumsum(wrong[order]) / np.arange(1, len(X) + 1))
left.axhline(100 * wrong.mean(), color="0.6", ls="--", lw=1)
left.text(2, 100 * wrong.mean() + 0.1, "all rows", color="0.4")
left.set(
    xlabel="surest rows, percent", ylabel="errors among them, percent", ylim=(0, 5)
)
left.set_title("Label the surest rows first, and errors come late")
bins = np.linspace(0, 1, 26)
right.hist(model.confidence_[~wrong], bins, label="with their own kind", color="C0")
right.hist(model.confidence_[wrong], bins, label="not", color="C3")
right.set(xlabel="confidence", ylabel="rows", yscale="log")
right.legend()
plt.show()

# %%
# The typical and the doubtful rows of each cluster; the number is the confidence.
plot.exemplars(model, X)
plt.show()
