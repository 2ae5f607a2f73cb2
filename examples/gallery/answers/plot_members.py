"""
Do the members agree?
=====================

The paper's four ways to make an ensemble differ in what varies between members: the
order of the hidden layers, the random start, the number of epochs, or the number of
landmarks. Each member votes on each row; ``member_agreement_`` is the mean.
"""

# %%
import matplotlib.pyplot as plt

from scedae import SCEDAE, plot
from scedae.datasets import load_digits
from scedae.metrics import evaluate

X, y = load_digits()
X, y = X[:900], y[:900]
kinds = ("structure", "initialization", "epochs", "landmarks")

figure, axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained")
for ax, kind in zip(axes.flat, kinds, strict=True):
    model = SCEDAE(
        10,
        ensemble=kind,
        n_members=5,
        n_row_members=1,
        epochs=40,
        n_landmarks=250,
        n_neighbors=5,
        random_state=0,
    ).fit(X)
    plot.agreement(model, ax=ax)
    score = evaluate(y, model.labels_)["ari"]
    ax.set_title(f"{kind}: adjusted Rand index {score:.2f}")
    ax.set_ylabel("")
plt.show()

# %%
# In the ensemble on landmarks, members with few landmarks have the coarsest view and
# agree least. In each list the last member works on the rows themselves.
