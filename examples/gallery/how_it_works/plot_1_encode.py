"""
Encode: several autoencoders, several views
===========================================

An autoencoder squeezes each row into a few numbers, its *code*, and learns to restore
the row from them. What it keeps depends on its random start and its layers. So there
are several: what all of them see is in the rows, what one of them sees may be chance.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from scedae import SCEDAE, plot
from scedae.datasets import load_digits

X, y = load_digits()
model = SCEDAE(
    10,
    n_members=4,
    n_row_members=0,
    epochs=40,
    n_landmarks=150,
    n_neighbors=5,
    random_state=0,
).fit(X)

# %%
# The members differ in the order of their hidden layers. Below, the codes of all rows
# (ten numbers each) on their two principal directions. Colours are the true digits,
# which no network has seen.
scaled = model.pipeline_.scaler(torch.as_tensor(X, dtype=torch.float64))
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
for ax, member in zip(axes, model.pipeline_.members, strict=True):
    codes = member.encode(scaled).numpy()
    U, s, _ = np.linalg.svd(codes - codes.mean(0), full_matrices=False)
    ax.scatter(*(U * s)[:, :2].T, c=[f"C{digit}" for digit in y], s=4, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title("-".join(map(str, member.spec.hidden_layers)), fontsize=10)
figure.suptitle("Codes of the same rows by four autoencoders")
plt.show()

# %%
# The loss of each falls and flattens; a curve that stays high, or a member that gives
# every row the same code, would be left out with a warning.
plot.training_curves(model)
plt.show()
