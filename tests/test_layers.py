"""Clusters at every number: nested, the fit's own among them, kept, for new rows."""

import warnings

import dask.array as da
import numpy as np
import pytest
import torch
from scipy.cluster.hierarchy import cut_tree, is_monotonic, is_valid_linkage, ward
from sklearn.metrics import adjusted_rand_score

from scedae import SCEDAE, LandmarkSpectralClustering, MemberSpec
from scedae._spectral.layers import Tree, is_tree, ward_merges
from scedae.exceptions import ModelFileError
from tests.helpers import ESTIMATORS, SPECTRAL
from tests.test_persistence import rewrite


@pytest.fixture(scope="module")
def hierarchy():
    """Three groups of three of three clouds; their classes at each depth, (n, 3)."""
    rng, rows, classes = np.random.default_rng(0), [], []
    for a in range(3):
        first = 4 * rng.standard_normal(20)
        for b in range(3):
            second = first + 1.6 * rng.standard_normal(20)
            for c in range(3):
                third = second + 0.7 * rng.standard_normal(20)
                rows.append(third + 0.4 * rng.standard_normal((30, 20)))
                classes += [(a, 3 * a + b, 9 * a + 3 * b + c)] * 30
    return np.concatenate(rows), np.array(classes)


@pytest.fixture(scope="module")
def fitted(hierarchy):
    members = [MemberSpec((), 0, 270, seed) for seed in range(2)]
    model = SCEDAE(27, ensemble=members, n_neighbors=5, random_state=0)
    return model.fit(hierarchy[0])


@pytest.fixture
def clouds(overlapping):
    return overlapping


@pytest.fixture
def models(spectral_models):
    return spectral_models


def check_nested(model, n_rows):
    n_leaves = len(model.linkage_) + 1
    assert is_valid_linkage(model.linkage_)
    assert is_monotonic(model.linkage_)
    finer = np.arange(n_rows)
    for n_clusters in range(n_leaves, 0, -1):
        labels = model.labels_at(n_clusters)
        assert labels.shape == (n_rows,)
        assert len(np.unique(labels)) == n_clusters
        # Whoever is together stays together.
        pairs = np.unique(np.stack([finer, labels]), axis=1)
        assert len(np.unique(pairs[0])) == pairs.shape[1]
        finer = labels
    assert (model.labels_at(model.n_clusters_) == model.labels_).all()
    return n_leaves


@pytest.mark.parametrize("name", SPECTRAL)
def test_layers_are_nested_and_hold_for_new_rows(models, clouds, name, tmp_path):
    model = models[name]
    n_leaves = check_nested(model, len(clouds))
    assert n_leaves == 15
    np.save(tmp_path / "rows.npy", clouds)
    for layer in (2, 5, n_leaves):
        labels = model.labels_at(layer)
        assert (model.predict(clouds, layer=layer) == labels).all()
        assert (model.predict(clouds[7:9], layer=layer) == labels[7:9]).all()
        assert (model.predict(tmp_path / "rows.npy", layer=layer) == labels).all()
        lazy = model.predict(da.from_array(clouds, chunks=(77, 5)), layer=layer)
        assert (lazy.compute() == labels).all()
    both = model.predict(clouds, layer=3, reject=0.1)
    rejected = model.predict(clouds, reject=0.1) == -1
    assert (both == np.where(rejected, -1, model.labels_at(3))).all()


def test_a_known_hierarchy_is_found_again(fitted, hierarchy):
    """Also where clusters have no tie, and Ward on the embedding finds nothing."""
    X, classes = hierarchy
    check_nested(fitted, len(X))
    tree = ward(fitted.embedding_)
    for depth, n_clusters in enumerate((3, 9, 27)):
        want = classes[:, depth]
        ours = adjusted_rand_score(want, fitted.labels_at(n_clusters))
        theirs = cut_tree(tree, n_clusters=n_clusters)[:, 0]
        assert ours >= adjusted_rand_score(want, theirs) - 1e-9
        assert ours > 0.9
    assert adjusted_rand_score(classes[:, 0], cut_tree(tree, n_clusters=3)[:, 0]) < 0.9


def test_stable_layers_are_named(fitted):
    found = {layer.n_clusters: layer for layer in fitted.layers_}
    assert found[27].stability == fitted.stability_
    assert list(found) == sorted(found)
    assert all(0.6 <= layer.stability <= 1 for n, layer in found.items() if n != 27)
    assert len(found) <= 5


def test_layers_are_saved(models, clouds, tmp_path):
    for name, model in models.items():
        model.save(tmp_path / name)
        loaded = type(model).load(tmp_path / name)
        assert (loaded.linkage_ == model.linkage_).all()
        assert loaded.layers_ == model.layers_
        assert (loaded.labels_at(3) == model.labels_at(3)).all()
        assert (loaded.predict(clouds, layer=12) == model.labels_at(12)).all()


@pytest.mark.parametrize("wrong", [0, 16, -1, 2.0, True, "3", None])
def test_layers_that_are_not_there(models, clouds, wrong):
    model = models["LandmarkSpectralClustering"]
    with pytest.raises(ValueError, match="1 to 15"):
        model.labels_at(wrong)
    if wrong is not None:
        with pytest.raises(ValueError, match="1 to 15"):
            model.predict(clouds, layer=wrong)


def _reversed(info, tensors):
    tensors["tree.linkage"] = tensors["tree.linkage"].flip(0)


def _across(info, tensors):
    """Pieces of different clusters are put together first."""
    owners = tensors["tree.owners"]
    owners[:] = torch.arange(len(owners)) * 5 // len(owners)
    tensors["tree.linkage"][0, :2] = torch.tensor([0.0, len(owners) - 1])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_reversed, "no tree"),
        (_across, "no tree"),
        (lambda info, t: t["tree.owners"].fill_(9), "beyond its range"),
        (lambda info, t: t["pieces"].fill_(0), "pieces are not those"),
        (lambda info, t: t.pop("pieces"), "lacks the tensor"),
        (lambda info, t: info["model"]["layers"][0].update(stability=2), "stability"),
        (lambda info, t: info["model"]["pipeline"].pop("layered"), "nothing needs"),
    ],
)
def test_damaged_layers_are_refused(models, tmp_path, damage, message):
    path = tmp_path / "model"
    models["LandmarkSpectralClustering"].save(path)
    rewrite(path, damage)
    with pytest.raises(ModelFileError, match=message):
        LandmarkSpectralClustering.load(path)


def test_a_file_from_before(models, clouds, tmp_path):
    def before(info, tensors):
        del info["model"]["pipeline"]["layered"], info["model"]["layers"]
        for name in ("tree.centers", "tree.owners", "tree.linkage", "pieces"):
            del tensors[name]

    path = tmp_path / "model"
    models["LandmarkSpectralClustering"].save(path)
    rewrite(path, before)
    loaded = LandmarkSpectralClustering.load(path)
    assert loaded.layers_ == ()
    assert not hasattr(loaded, "linkage_")
    with pytest.raises(AttributeError, match="Fit again"):
        loaded.labels_at(3)
    with pytest.raises(AttributeError, match="Fit again"):
        loaded.predict(clouds, layer=3)


def test_rows_elsewhere_are_predicted(clouds):
    model = ESTIMATORS["LandmarkSpectralClustering"](k=4).fit(clouds)
    model.fit(da.from_array(clouds, chunks=(100, 5)))
    with pytest.raises(AttributeError, match=r"predict\(X, layer=3\)"):
        model.labels_at(3)
    assert len(np.unique(model.predict(clouds, layer=3))) == 3


def test_rows_that_are_all_equal_have_no_layers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LandmarkSpectralClustering(3, random_state=0).fit(np.ones((40, 2)))
    if hasattr(model, "linkage_"):
        check_nested(model, 40)
    else:
        with pytest.raises(AttributeError, match="all its rows are equal"):
            model.labels_at(2)


def test_ward_is_scipys_and_knows_weights(rng):
    X = rng.standard_normal((40, 3))
    found, want = ward_merges(X, np.ones(40)), ward(X)
    assert [sorted(merge[:2]) for merge in found] == want[:, :2].tolist()
    np.testing.assert_allclose([merge[2] for merge in found], want[:, 2])
    # A point of weight three is three points on one spot.
    sizes = rng.integers(1, 4, 12)
    few = ward_merges(X[:12], sizes)
    many = ward(np.repeat(X[:12], sizes, axis=0))
    heights = [merge[2] for merge in few]
    np.testing.assert_allclose(heights, many[many[:, 2] > 1e-9][:, 2])


def test_what_is_a_tree():
    centers, owners = torch.zeros(3, 1), torch.tensor([0, 0, 1])
    good = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]])
    assert is_tree(Tree(centers, owners, good))
    across = np.array([[1, 2, 1.0, 2], [0, 3, 2.0, 3]])
    assert not is_tree(Tree(centers, owners, across))
    falling = np.array([[0, 1, 2.0, 2], [2, 3, 1.0, 3]])
    assert not is_tree(Tree(centers, owners, falling))
    assert not is_tree(Tree(centers[:2], owners[:2], good))
