import torch

from scedae._rows import MemoryRows, ScaledRows, fit_scaler, gather_statistics
from scedae._spectral import choose_landmarks, nearest
from scedae._spectral.kmeans import lloyd


def encoding_of(X):
    rows = MemoryRows(X)
    return ScaledRows(rows, fit_scaler(gather_statistics(rows), "none"))


def seeded():
    return torch.Generator().manual_seed(0)


def test_random_landmarks_are_distinct_rows(rng):
    X = rng.random((50, 3)).astype("float32")
    landmarks = choose_landmarks(encoding_of(X), 20, "random", seeded()).numpy()
    assert len({tuple(row) for row in landmarks}) == 20
    assert {tuple(row) for row in landmarks} <= {tuple(row) for row in X}


def test_kmeans_landmarks_cover_rows_better(rng):
    X = rng.random((2000, 3)).astype("float32")

    def spread(method):
        landmarks = choose_landmarks(encoding_of(X), 30, method, seeded())
        own = landmarks[nearest(torch.tensor(X), landmarks)[:, 0]]
        return float((torch.tensor(X) - own).square().sum())

    assert spread("kmeans") < 0.9 * spread("random")


def test_landmarks_are_five_rounds_from_random_rows(rng):
    """As LSC's own code has them."""
    encoding = encoding_of(rng.random((900, 3)).astype("float32"))
    start = choose_landmarks(encoding, 30, "random", seeded())
    found = choose_landmarks(encoding, 30, "kmeans", seeded())
    assert torch.equal(found, lloyd(encoding.blocks, start, 5))
    assert not torch.equal(found, lloyd(encoding.blocks, start, 6))


def test_four_rows_are_tried_for_a_landmark_where_they_repeat(rng, monkeypatch):
    X = rng.standard_normal((500, 2))
    source, tried = encoding_of(X), []
    take = source.take

    def spy(index):
        tried.append(len(index))
        return take(index)

    monkeypatch.setattr(source, "take", spy)
    for n_landmarks in (10, 200):
        choose_landmarks(source, n_landmarks, "random", seeded())
    assert tried == [40, 500]
