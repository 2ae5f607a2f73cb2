"""Pictures show what they should: points, marks, names."""

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.exceptions import NotFittedError

from scedae import SCEDAE, LandmarkSpectralClustering, plot
from scedae._palette import LIGHT
from scedae.exceptions import CollapsedMemberWarning
from tests.helpers import ESTIMATORS


@pytest.fixture
def model(blobs):
    return ESTIMATORS["SCEDAE"]().fit(blobs[0])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def n_points(ax):
    return sum(len(dots.get_offsets()) for dots in ax.collections)


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_importing_needs_no_matplotlib():
    code = "import sys, scedae.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"scedae\[plot\]"):
        plot.spectrum(model)


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_embedding_has_a_point_for_each_row_in_the_colour_of_its_cluster(model, method):
    ax = plot.embedding(model, method=method)
    assert len(ax.collections) == 3
    assert texts(ax.get_legend()) == ["0", "1", "2"]
    assert ax.get_legend().get_title().get_text() == "cluster"
    for cluster, dots in enumerate(ax.collections):
        own = model.labels_ == cluster
        assert len(dots.get_offsets()) == own.sum()
        np.testing.assert_allclose(
            dots.get_facecolors()[:, 3], 0.25 + 0.75 * model.confidence_[own]
        )
    assert np.isfinite(np.concatenate([d.get_offsets() for d in ax.collections])).all()


def test_embedding_by_classes(model, blobs):
    names = np.array(["ä", "b", "c"])[blobs[1]]
    ax = plot.embedding(model, names, method="pca")
    assert texts(ax.get_legend()) == sorted(set(names))
    assert ax.get_legend().get_title().get_text() == "class"
    with pytest.raises(ValueError, match="fitted on 240 rows"):
        plot.embedding(model, names[:5])


def test_embedding_of_many_rows_is_a_sample(model, monkeypatch):
    monkeypatch.setattr("scedae.plot._embedding_picture.MAX_ROWS", 100)
    ax = plot.embedding(model, method="pca")
    assert n_points(ax) == 100
    assert ax.get_title("left") == "100 of 240 rows in 3 clusters"
    # Clusters carry their names, in the colours of the report.
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2"}
    first = ax.collections[0].get_facecolors()[0][:3]
    np.testing.assert_allclose(first, to_rgb(LIGHT[0]))


def test_embedding_of_few_rows_or_one_coordinate(blobs):
    few = LandmarkSpectralClustering(2, random_state=0, n_landmarks=5).fit(blobs[0][:6])
    assert n_points(plot.embedding(few)) == 6
    model = ESTIMATORS["AutoencoderKMeans"](encoding_dim=1).fit(blobs[0])
    assert n_points(plot.embedding(model, method="pca")) == 240


def test_an_unknown_method(model):
    with pytest.raises(ValueError, match="must be one of tsne, pca"):
        plot.embedding(model, method="umap")


def test_spectrum_marks_the_chosen_number(model):
    ax = plot.spectrum(model)
    line, mark = ax.get_lines()
    np.testing.assert_array_equal(line.get_ydata()[1:], model.singular_values_)
    assert line.get_ydata()[0] == 1
    assert list(mark.get_xdata()) == [3.5, 3.5]
    assert "k = 3" in texts(ax.get_legend())
    assert [len(dots.get_offsets()) for dots in ax.collections] == [3, 3]


def test_agreement_has_a_bar_for_each_member(model):
    ax = plot.agreement(model)
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches], model.member_agreement_
    )
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == "1  12-8-10"
    assert len(set(names)) == 9


def test_agreement_names_collapsed_members(blobs, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "scedae._ensemble.is_collapsed", lambda codes: seen.append(1) or len(seen) == 2
    )
    with pytest.warns(CollapsedMemberWarning):
        model = ESTIMATORS["SCEDAE"]().fit(blobs[0])
    shown = [text.get_text() for text in plot.agreement(model).texts]
    assert shown[1] == "collapsed"
    assert "collapsed" not in shown[:1] + shown[2:]


def test_training_curves_are_the_histories(model):
    ax = plot.training_curves(model)
    assert len(ax.get_lines()) == 6
    for line, report in zip(ax.get_lines(), model.members_[:6], strict=True):
        assert line.get_ydata()[-1] == report.loss
        assert len(line.get_xdata()) == 20
    assert texts(ax.get_legend())[0] == "1  12-8-10"


def halves(figure):
    return [half.axes for half in figure.subfigs]


def test_exemplars_as_pictures(rng):
    X = rng.random((90, 16)) + np.repeat(np.eye(3, 16) * 9, 30, axis=0)
    model = LandmarkSpectralClustering(3, random_state=0).fit(X)
    typical, doubtful = halves(plot.exemplars(model, X))
    assert len(typical) == len(doubtful) == 3 * 6
    assert all(ax.images[0].get_array().shape == (4, 4) for ax in typical + doubtful)
    for cluster in range(3):
        own = np.flatnonzero(model.labels_ == cluster)
        least = own[model.confidence_[own].argmin()]
        first = doubtful[6 * cluster]
        np.testing.assert_array_equal(first.images[0].get_array().ravel(), X[least])
        assert first.get_title() == f"{model.confidence_[least]:.2f}"
        offsets = model.embedding_[own] - model.cluster_centers_[cluster]
        nearest = own[(offsets**2).sum(1).argmin()]
        picture = typical[6 * cluster].images[0].get_array()
        np.testing.assert_array_equal(picture.ravel(), X[nearest])
        assert typical[6 * cluster].texts[0].get_text() == str(cluster)
    (picture, *_), _ = halves(plot.exemplars(model, X, shape=(2, 8)))
    assert picture.images[0].get_array().shape == (2, 8)


def test_exemplars_as_curves_and_of_small_clusters(blobs):
    X = np.concatenate([blobs[0], np.full((2, 6), 99.0)])
    model = LandmarkSpectralClustering(4, random_state=0).fit(X)
    typical, doubtful = halves(plot.exemplars(model, X))
    drawn = [len(ax.lines) for ax in typical]
    assert sum(drawn) == sum(len(ax.lines) for ax in doubtful)
    sizes = np.bincount(model.labels_)
    assert sum(drawn) == np.minimum(sizes, 6).sum()
    np.testing.assert_array_equal(typical[0].lines[0].get_xdata(), np.arange(6))


def test_exemplars_of_other_rows_are_refused(model, blobs):
    with pytest.raises(ValueError, match="240 rows of the fit"):
        plot.exemplars(model, blobs[0][:9])
    with pytest.raises(ValueError, match="does not fit rows of 6 columns"):
        plot.exemplars(model, blobs[0], shape=(2, 2))


def test_given_axes_are_used(model):
    figure, axes = plt.subplots(2, 2)
    drawings = (plot.embedding, plot.spectrum, plot.agreement, plot.training_curves)
    for draw, ax in zip(drawings, axes.flat, strict=True):
        assert draw(model, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]


def test_what_a_model_does_not_have_is_named(blobs):
    with pytest.raises(NotFittedError):
        plot.spectrum(SCEDAE(3))
    kmeans = ESTIMATORS["AutoencoderKMeans"]().fit(blobs[0])
    for draw in (plot.spectrum, plot.agreement, lambda m: plot.exemplars(m, blobs[0])):
        with pytest.raises(ValueError, match="AutoencoderKMeans has no"):
            draw(kmeans)
    lsc = ESTIMATORS["LandmarkSpectralClustering"]().fit(blobs[0])
    with pytest.raises(ValueError, match="was trained"):
        plot.training_curves(lsc)


def test_dendrogram_has_the_tree_and_the_line(model):
    ax = plot.dendrogram(model)
    owners = model.pipeline_.tree.owners.tolist()
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert sorted(names) == sorted(map(str, owners))
    (line,) = [each for each in ax.get_lines() if each.get_linestyle() == "--"]
    height = line.get_ydata()[0]
    # As many branches cross the line as the fit has clusters.
    assert len(owners) - (model.linkage_[:, 2] < height).sum() == model.n_clusters_
