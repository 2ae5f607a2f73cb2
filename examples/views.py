"""Two views of the same rows: halves of digits, and what one half alone can say.

Run with ``python examples/views.py``; it takes about half a minute on a laptop.
"""

from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE

X, y = load_digits(return_X_y=True)
pictures = X.reshape(-1, 8, 8)[::2]
classes = y[::2]
views = {
    "left": pictures[:, :, :4].reshape(len(pictures), -1),
    "right": pictures[:, :, 4:].reshape(len(pictures), -1),
}

model = SCEDAE(10, effort="fast", random_state=0).fit(views)
print(f"both halves: ARI {adjusted_rand_score(classes, model.labels_):.2f}")
for name, half in views.items():
    alone = SCEDAE(10, effort="fast", random_state=0).fit_predict(half)
    told = model.predict({name: half})
    print(
        f"{name}: agreement {model.views_[name].agreement:.2f}, "
        f"fitted alone {adjusted_rand_score(classes, alone):.2f}, "
        f"with the other missing {adjusted_rand_score(classes, told):.2f}"
    )
