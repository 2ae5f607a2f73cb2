import numpy as np
import pytest

from scedae import datasets
from scedae.datasets import _fetch
from scedae.datasets._registry import REGISTRY, Entry, content_checksum
from scedae.exceptions import ChecksumError, DatasetNotFoundError

SHAPES = {
    "tetra": (datasets.make_tetra, 3, [0.25] * 4),
    "chainlink": (datasets.make_chainlink, 3, [0.5] * 2),
    "lsun": (datasets.make_lsun, 2, [0.5, 0.25, 0.25]),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("n_samples", [4, 101, 2000])
def test_shapes_have_the_rows_asked_for(name, n_samples):
    make, n_columns, shares = SHAPES[name]
    X, y = make(n_samples, random_state=0)
    assert X.shape == (n_samples, n_columns)
    assert len(np.unique(y)) == len(shares)
    if n_samples == 2000:
        np.testing.assert_allclose(np.bincount(y) / n_samples, shares)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_fixed_by_their_seed(name):
    make = SHAPES[name][0]
    assert (make(50, random_state=1)[0] == make(50, random_state=1)[0]).all()
    assert (make(50, random_state=1)[0] != make(50, random_state=2)[0]).any()


@pytest.mark.parametrize("name", SHAPES)
def test_too_few_rows(name):
    with pytest.raises(ValueError, match="n_samples=1"):
        SHAPES[name][0](1)


def test_rings_are_linked_and_do_not_touch():
    X, y = datasets.make_chainlink(3000, random_state=0)
    first, second = X[y == 0], X[y == 1]
    assert np.abs(np.linalg.norm(first[:, :2], axis=1) - 1).max() <= 0.1
    gap = np.linalg.norm(first[:, None] - second[None], axis=2).min()
    assert gap > 0.5
    # The second ring passes through the disc of the first.
    assert (np.linalg.norm(second[:, :2], axis=1) < 0.2).any()


def test_balls_of_tetra_do_not_overlap():
    X, y = datasets.make_tetra(800, random_state=0)
    for a in range(4):
        for b in range(a):
            gap = np.linalg.norm(X[y == a][:, None] - X[y == b][None], axis=2).min()
            assert gap > 0.3


@pytest.mark.parametrize("kind", datasets.LIFTS)
def test_lifts_reach_100_dimensions(kind):
    H, _ = datasets.make_lsun(30, random_state=0)
    X = datasets.lift(H, kind, random_state=0)
    assert X.shape == (30, 100)
    assert np.isfinite(X).all()
    assert (datasets.lift(H, kind, random_state=0) == X).all()


def test_lifts_are_the_formulas_of_the_paper():
    H = np.zeros((1, 2))  # σ(0) = 1/2, whatever the random matrices
    half = 1 / (1 + np.exp(-0.5))
    np.testing.assert_allclose(datasets.lift(H, "square"), half**2)
    np.testing.assert_allclose(datasets.lift(H, "tangent"), np.tan(0.5))
    lifted = datasets.lift(H, "sigmoid")
    assert ((lifted > 0) & (lifted < 1)).all()


def test_an_unknown_lift():
    with pytest.raises(ValueError, match="kind='cosine'"):
        datasets.lift(np.zeros((2, 2)), "cosine")


def test_digits_are_embedded():
    X, y = datasets.load_digits()
    assert X.shape == (1797, 64)
    assert len(np.unique(y)) == 10


# --- loaders ----------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A registered data set of five rows, and empty folders to look for it."""
    X, y = np.arange(10, dtype=np.uint8).reshape(5, 2), np.array([0, 0, 1, 1, 1])
    entry = Entry("tiny", (5, 2), 3, 3, content_checksum(X, y), 123)
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    monkeypatch.setenv("SCEDAE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    (tmp_path / "cache" / "scedae").mkdir(parents=True)

    def offline(*arguments, **named):
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    return tmp_path, X, y


@pytest.mark.parametrize("folder", ["data", "cache/scedae"])
def test_files_are_found_in_both_folders(tiny, folder):
    root, X, y = tiny
    np.savez_compressed(root / folder / "tiny.npz", X=X, y=y)
    for subset, rows in {
        "all": slice(None),
        "train": slice(3),
        "test": slice(3, None),
    }.items():
        found = _fetch.load("tiny", subset)
        assert (found[0] == X[rows]).all()
        assert (found[1] == y[rows]).all()


def test_a_changed_file_is_refused(tiny):
    root, X, y = tiny
    np.savez(root / "data" / "tiny.npz", X=X + 1, y=y)
    with pytest.raises(ChecksumError, match="its checksum differs"):
        _fetch.load("tiny")


def test_a_broken_file_is_refused(tiny):
    (tiny[0] / "data" / "tiny.npz").write_bytes(b"PK not really")
    with pytest.raises(ChecksumError, match="cannot be read"):
        _fetch.load("tiny")


def test_offline_and_absent_says_what_to_put_where(tiny):
    with pytest.raises(DatasetNotFoundError) as caught:
        _fetch.load("tiny")
    message = str(caught.value)
    assert "no route to host" in message
    assert "tiny.npz" in message
    assert str(tiny[0] / "data") in message


def test_an_unknown_subset(tiny):
    with pytest.raises(ValueError, match="subset='half'"):
        _fetch.load("tiny", "half")


def test_an_unknown_shape():
    with pytest.raises(ValueError, match="name='ring' must be one of atom"):
        datasets.load_fcps("ring")


def test_openml_data_take_the_form_of_the_file(tiny, monkeypatch):
    """OpenML tells classes as text and numbers as doubles."""
    from types import SimpleNamespace

    X = np.arange(40.0).reshape(20, 2)
    y = np.array([str(1 + i % 10) for i in range(20)])
    expected = X.astype(np.uint8), np.arange(20) % 10
    entry = Entry("tiny", (20, 2), 10, 3, content_checksum(*expected), 123)
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    monkeypatch.setattr(
        "sklearn.datasets.fetch_openml", lambda **kw: SimpleNamespace(data=X, target=y)
    )
    found_X, found_y = _fetch.load("tiny", "train")
    assert found_X.dtype == np.uint8
    assert (found_X == expected[0][:3]).all()
    assert (found_y == expected[1][:3]).all()
    kept = tiny[0] / "cache" / "scedae" / "tiny.npz"
    assert (np.load(kept)["X"] == expected[0]).all()

    kept.unlink()
    monkeypatch.setitem(REGISTRY, "tiny", Entry("tiny", (20, 2), 10, 3, "other", 123))
    with pytest.warns(UserWarning, match="differs from the reference"):
        assert (_fetch.load("tiny")[0] == X).all()
    assert not kept.exists()
    with pytest.raises(ChecksumError, match="cannot be told"):
        _fetch.load("tiny", "train")
    wrong = Entry("tiny", (21, 2), 10, 3, "", 123)
    monkeypatch.setitem(REGISTRY, "tiny", wrong)
    with pytest.raises(ChecksumError, match="has shape"):
        _fetch.load("tiny")


@pytest.mark.data
@pytest.mark.parametrize("name", REGISTRY)
def test_real_files_pass_their_checksum(data_folder, name):
    entry = REGISTRY[name]
    X, y = _fetch.load(name)
    assert X.shape == entry.shape
    assert len(y) == len(X)


def test_every_name_is_described():
    for name in datasets.NAMES:
        info = datasets.describe(name)
        assert info.name == name
        assert info.n_rows > info.n_classes > 1
    with pytest.raises(ValueError, match="must be one of digits"):
        datasets.describe("nothing")


def test_loading_by_name():
    X, y = datasets.load_by_name("digits")
    info = datasets.describe("digits")
    assert X.shape == (info.n_rows, info.n_columns)
    assert len(np.unique(y)) == info.n_classes
    with pytest.raises(ValueError, match="must be one of digits"):
        datasets.load_by_name("nothing")


@pytest.mark.data
@pytest.mark.parametrize("name", datasets.NAMES[1:])
def test_real_files_are_as_described(data_folder, name):
    info = datasets.describe(name)
    X, y = datasets.load_by_name(name)
    assert X.shape == (info.n_rows, info.n_columns)
    assert len(np.unique(y)) == info.n_classes
    assert info.file.parent == data_folder
