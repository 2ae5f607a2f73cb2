from itertools import permutations

import numpy as np
import pytest

from scedae.metrics import clustering_accuracy, evaluate


def best_by_trying(y, labels):
    """Accuracy over all one-to-one matchings, by brute force."""
    classes, clusters = np.unique(y), np.unique(labels)
    size = max(len(classes), len(clusters))
    names = [*classes, *range(1000, 1000 + size - len(classes))]
    return max(
        np.mean(
            [
                order[list(clusters).index(c)] == t
                for t, c in zip(y, labels, strict=True)
            ]
        )
        for order in permutations(names)
    )


@pytest.mark.parametrize(("n_classes", "n_clusters"), [(3, 3), (2, 4), (4, 2), (1, 3)])
def test_equals_brute_force(rng, n_classes, n_clusters):
    y, labels = rng.integers(n_classes, size=40), rng.integers(n_clusters, size=40)
    assert clustering_accuracy(y, labels) == pytest.approx(best_by_trying(y, labels))


def test_names_of_labels_do_not_matter():
    assert clustering_accuracy(["x", "y", "x"], [5.0, -1.0, 5.0]) == 1


def test_scores_of_a_random_labelling_are_low(rng):
    scores = evaluate(rng.integers(4, size=2000), rng.integers(4, size=2000))
    assert set(scores) == {"acc", "nmi", "ari"}
    assert scores["acc"] < 0.35
    assert abs(scores["ari"]) < 0.02


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="inconsistent"):
        clustering_accuracy([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="no labels"):
        clustering_accuracy([], [])
