"""
1,797 handwritten digits, without their labels
==============================================

The shortest useful program: fit, and look at a map. The labels that scikit-learn ships
with the digits are used once, at the end, to count how many rows landed in a cluster of
their own kind.
"""

# %%
import matplotlib.pyplot as plt
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.cluster import KMeans

from scedae import SCEDAE, plot
from scedae.datasets import load_digits
from scedae.metrics import evaluate

X, y = load_digits()
model = SCEDAE(n_clusters=10, effort="fast", random_state=0).fit(X)

# %%
# A map of the embedding, with one typical digit beside each cluster. Pale points are
# rows that the model is not sure of.
ax = plot.embedding(model)
legend = ax.get_legend()
legend.remove()
distance = ((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(2)
for name, row in zip(list(ax.texts), distance.argmin(0), strict=True):
    picture = OffsetImage(X[row].reshape(8, 8), zoom=2.6, cmap="gray_r")
    frame = {"edgecolor": f"C{name.get_text()}", "linewidth": 1.5}
    ax.add_artist(AnnotationBbox(picture, name.xy, pad=0.1, bboxprops=frame))
    name.remove()
plt.show()

# %%
# Beside k-means on the same rows: accuracy after the best matching of clusters to
# classes, normalised mutual information, adjusted Rand index.
print("SCEDAE ", evaluate(y, model.labels_))
print("k-means", evaluate(y, KMeans(10, n_init=10, random_state=0).fit_predict(X)))
