"""
Fuse: one graph out of all members
==================================

Each member's ties make a similarity between rows: two rows are alike if they share
landmarks. Fusing is averaging these similarities. What only one member believes gets
weak, what all believe stays.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from scedae import SCEDAE
from scedae.datasets import load_digits

X, y = load_digits()
digits = [1, 3, 5, 8, 9]  # those that are easily taken for each other
chosen = np.concatenate([np.flatnonzero(y == digit)[:100] for digit in digits])
X = X[chosen]
model = SCEDAE(
    5,
    n_members=3,
    n_row_members=0,
    n_landmarks=80,
    n_neighbors=5,
    epochs=25,
    random_state=0,
).fit(X)

# %%
# The matrices of three members trained briefly, a hundred rows of each digit, and their
# mean: squares on the diagonal are rows that are alike. Off the diagonal each member
# errs in its own way, and in the mean its errors are paler. The matrices are drawn here
# only; a fit never forms them, it works with the ties.
rows = model.pipeline_.scaler(torch.as_tensor(X, dtype=torch.float64))
matrices = []
for member in model.pipeline_.members:
    ties = member.affinity(rows, model.pipeline_.n_neighbors)
    Z = np.zeros((len(X), ties.n_landmarks))
    np.put_along_axis(Z, ties.columns.long().numpy(), ties.weights.numpy(), 1)
    S = Z / np.maximum(Z.sum(0), 1e-12) @ Z.T  # rows that share landmarks
    matrices.append(S)

figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
for ax, S, name in zip(
    axes,
    [*matrices, np.mean(matrices, 0)],
    ["member 1", "member 2", "member 3", "fused"],
    strict=True,
):
    # Blurred over 5 x 5 pairs: single pairs are dots too small to see.
    blurred = S.reshape(100, 5, 100, 5).mean((1, 3))
    ax.imshow(np.sqrt(blurred), cmap="Blues", vmax=0.13)
    ax.set(title=name, yticks=[])
    ax.set_xticks(np.arange(10, 100, 20), digits)
    ax.tick_params(length=0)
plt.show()
