"""How many clusters, and whether to trust them."""

import warnings

import matplotlib
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from scedae import (
    SCEDAE,
    ClusterSuggestion,
    LandmarkSpectralClustering,
    plot,
    suggest_clusters,
)
from scedae._rows import stream
from scedae._shell.spectral import SpectralClusterer
from scedae._spectral import Candidate
from scedae.datasets import load_digits, make_tetra
from scedae.exceptions import (
    DegenerateDataWarning,
    ModelFileError,
    UnstableClustersWarning,
)
from scedae.report import write_report
from tests.helpers import ESTIMATORS, EXPECTED_FAILURES, QUICK, SPECTRAL, in_formats
from tests.test_persistence import rewrite

matplotlib.use("Agg")

# Networks that can tell the balls of Tetra apart.
ENOUGH = {"SCEDAE": {"hidden_layers": (48, 72, 96), "epochs": 60, "encoding_dim": 10}}

every_spectral = pytest.mark.parametrize("name", SPECTRAL)


@pytest.fixture(autouse=True, scope="module")
def few_numbers_are_looked_at():
    """Twelve candidates instead of thirty: no test has more than nine clusters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpectralClusterer, "_most_clusters", 12)
        yield


@pytest.fixture(scope="module")
def tetra():
    return make_tetra(400, random_state=0)


@pytest.fixture(scope="module")
def counted(tetra):
    return SCEDAE("auto", epochs=60, random_state=0).fit(tetra[0])


@pytest.fixture
def noise(rng):
    return rng.uniform(size=(500, 10))


def test_the_four_balls_of_tetra_are_counted(tetra, counted):
    X, y = tetra
    assert counted.n_clusters_ == counted.suggestion_.n_clusters == 4
    assert counted.suggestion_.clear
    assert counted.cluster_centers_.shape[0] == 4
    assert adjusted_rand_score(y, counted.labels_) == 1
    assert (counted.predict(X) == counted.labels_).all()


def test_a_counted_fit_is_the_fit_with_that_number(tetra, counted):
    given = clone(counted).set_params(n_clusters=4).fit(tetra[0])
    assert (given.labels_ == counted.labels_).all()
    assert given.stability_ == pytest.approx(counted.stability_)
    assert given.embedding_.shape == counted.embedding_.shape
    assert not hasattr(given, "suggestion_")


@pytest.mark.parametrize("embedding", ["diffusion", "lsc"])
@pytest.mark.parametrize("name", ["SCEDAE", "LandmarkSpectralClustering"])
def test_blobs_are_counted_with_every_embedding(blobs, name, embedding):
    model = ESTIMATORS[name]("auto", embedding=embedding).fit(blobs[0])
    assert model.n_clusters_ == 3
    assert model.stability_ > 0.9


@pytest.mark.parametrize("n_clusters", [2, 5, 9])
def test_other_numbers_of_blobs(n_clusters):
    X, _ = make_blobs(
        360, 8, centers=n_clusters, center_box=(-20, 20), random_state=n_clusters
    )
    assert LandmarkSpectralClustering("auto", random_state=0).fit(X).n_clusters_ == (
        n_clusters
    )


def test_the_order_of_the_rows_does_not_change_the_number(tetra, counted, rng):
    model = SCEDAE("auto", epochs=60, random_state=0)
    assert model.fit(rng.permutation(tetra[0])).n_clusters_ == counted.n_clusters_


def test_another_number_of_threads_changes_nothing(blobs):
    before = torch.get_num_threads()
    found = []
    try:
        for n_threads in (1, 2):
            torch.set_num_threads(n_threads)
            model = LandmarkSpectralClustering("auto", random_state=0)
            found.append(model.fit(blobs[0][:120]))
    finally:
        torch.set_num_threads(before)
    assert found[0].suggestion_ == found[1].suggestion_
    assert found[0].stability_ == found[1].stability_
    assert (found[0].labels_ == found[1].labels_).all()


@pytest.mark.parametrize("kind", ["npy", "dask"])
def test_rows_elsewhere_are_counted_by_their_sample(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "DRAWN_ROWS", 512)
    monkeypatch.setattr(stream, "_BLOCK_ROWS", 400)
    X, _ = make_blobs(2000, 5, centers=4, random_state=3)
    where = in_formats(X.astype(np.float32), tmp_path)[kind]
    model = LandmarkSpectralClustering("auto", n_landmarks=60, random_state=0)
    model.fit(where).save(tmp_path / "model")
    assert model.n_clusters_ == 4
    loaded = LandmarkSpectralClustering.load(tmp_path / "model")
    assert loaded.n_clusters_ == 4
    assert loaded.stability_ == model.stability_ > 0.9


@pytest.mark.parametrize("name", ["SCEDAE", "LandmarkSpectralClustering"])
@pytest.mark.parametrize("n_clusters", ["auto", 3])
def test_evidence_survives_a_file(blobs, name, n_clusters, tmp_path):
    model = ESTIMATORS[name](n_clusters).fit(blobs[0])
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert loaded.n_clusters == n_clusters
    assert loaded.n_clusters_ == 3
    assert loaded.stability_ == model.stability_
    assert getattr(loaded, "suggestion_", None) == getattr(model, "suggestion_", None)
    assert (loaded.predict(blobs[0]) == model.labels_).all()


@pytest.mark.parametrize("key", ["stability", "candidates"])
def test_a_file_without_its_evidence_is_refused(blobs, key, tmp_path):
    ESTIMATORS["SCEDAE"]().fit(blobs[0]).save(tmp_path / "model")
    rewrite(tmp_path / "model", lambda info, tensors: info["model"].pop(key))
    with pytest.raises(ModelFileError, match=key):
        SCEDAE.load(tmp_path / "model")


def test_a_later_fit_forgets_the_suggestion(blobs):
    model = ESTIMATORS["SCEDAE"]("auto").fit(blobs[0])
    model.set_params(n_clusters=3).fit(blobs[0])
    assert not hasattr(model, "suggestion_")


# Trust.


def test_tetra_is_stable(counted):
    assert counted.stability_ > 0.95


# Two halves of a cube are found by every half of the ensemble: they pass as stable.
@pytest.mark.parametrize(
    ("n_columns", "n_clusters"), [(3, 4), (3, 10), (10, 2), (10, 4), (40, 2), (40, 10)]
)
def test_noise_is_unstable_and_says_so(rng, n_clusters, n_columns):
    X = rng.uniform(size=(600, n_columns))
    model = SCEDAE(n_clusters, epochs=40, n_landmarks=300, random_state=0)
    with pytest.warns(UnstableClustersWarning, match="suggest_clusters"):
        model.fit(X)
    assert model.stability_ < 0.7


@pytest.mark.parametrize("name", ["SCEDAE", "LandmarkSpectralClustering"])
def test_no_number_of_clusters_stands_out_of_noise(noise, name):
    model = ESTIMATORS[name]("auto")
    with pytest.warns(UnstableClustersWarning, match="no number of clusters") as caught:
        model.fit(noise)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not model.suggestion_.clear
    assert model.n_clusters_ >= 2


def test_one_cluster_has_nothing_to_disagree_about(blobs):
    with pytest.warns(DegenerateDataWarning, match="one cluster"):
        model = ESTIMATORS["SCEDAE"](1).fit(blobs[0])
    assert model.stability_ == 1


# Edges.


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["SCEDAE", "LandmarkSpectralClustering"])
def test_clear_clusters_do_not_warn(blobs, tetra, name):
    assert ESTIMATORS[name](3).fit(blobs[0]).stability_ > 0.9
    assert ESTIMATORS[name](4, **ENOUGH.get(name, {})).fit(tetra[0]).stability_ > 0.9


@pytest.mark.filterwarnings("error")
def test_digits_are_stable():
    X, _ = load_digits()
    model = SCEDAE(10, epochs=60, n_landmarks=800, random_state=0).fit(X)
    assert model.stability_ > 0.6


@every_spectral
def test_few_rows(name, rng):
    for n_rows in (2, 3, 5, 11):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ESTIMATORS[name]("auto", n_landmarks=2).fit(
                rng.standard_normal((n_rows, 3))
            )
        assert model.n_clusters_ == 2
    with pytest.raises(ValueError, match="n_samples=1 should be >= 2"):
        ESTIMATORS[name]("auto").fit(np.zeros((1, 3)))


def test_equal_rows_are_no_silent_cluster():
    model = LandmarkSpectralClustering("auto", n_landmarks=10, random_state=0)
    with pytest.warns(DegenerateDataWarning, match="all rows of X are equal"):
        model.fit(np.ones((60, 3)))
    assert model.n_clusters_ == 1


@every_spectral
def test_another_word_is_refused(blobs, name):
    with pytest.raises(ValueError, match=r"'n_clusters' .*'auto'"):
        ESTIMATORS[name]("many").fit(blobs[0])


def test_without_a_spectrum_nothing_is_counted(blobs):
    with pytest.raises(ValueError, match="'n_clusters'"):
        ESTIMATORS["AutoencoderKMeans"]("auto").fit(blobs[0])


@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@pytest.mark.filterwarnings("ignore::scedae.exceptions.CollapsedMemberWarning")
@parametrize_with_checks(
    [LandmarkSpectralClustering("auto", n_landmarks=20, random_state=0)],
    expected_failed_checks=lambda e: EXPECTED_FAILURES[type(e).__name__],
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow  # all of them together
@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@pytest.mark.filterwarnings("ignore::scedae.exceptions.CollapsedMemberWarning")
@parametrize_with_checks(
    [SCEDAE("auto", hidden_layers=(16, 12), epochs=3, n_landmarks=20, random_state=0)],
    expected_failed_checks=lambda e: EXPECTED_FAILURES[type(e).__name__],
)
def test_scikit_learn_contract_of_an_ensemble(estimator, check):
    check(estimator)


# The question apart from the clustering.


def test_suggest_clusters(blobs):
    suggestion = suggest_clusters(blobs[0], max_clusters=6, random_state=0, **QUICK)
    assert isinstance(suggestion, ClusterSuggestion)
    assert suggestion.n_clusters == 3
    looked_at = {c.n_clusters for c in suggestion.candidates}
    assert 3 in looked_at <= {2, 3, 4, 5, 6}
    assert len(suggestion.table().splitlines()) == 1 + len(looked_at)
    assert len(suggestion.table(2).splitlines()) == 3


@pytest.mark.parametrize("most", [1, 2.5, "many"])
def test_a_largest_number_that_is_none(blobs, most):
    with pytest.raises(ValueError, match="max_clusters"):
        suggest_clusters(blobs[0], max_clusters=most)


def suggestion_of(*scores):
    found = [Candidate(k, s, 1.0, s) for k, s in enumerate(scores, 2)]
    return ClusterSuggestion(tuple(sorted(found, key=lambda c: -c.score)))


def test_what_a_suggestion_says():
    clear, unclear = suggestion_of(0.5, 2, 0.1), suggestion_of(0.15, 0.1)
    assert repr(clear).startswith("3 clusters\nclusters    gap  stability  score\n")
    assert "more" not in repr(clear)
    assert "best guess: 2" in repr(unclear)
    assert "… and 3 more" in repr(suggestion_of(*range(8)))


def test_the_picture_of_a_suggestion(counted):
    figure = plot.suggestion(counted)
    above, below = figure.axes
    assert len(above.lines[0].get_xdata()) == len(counted.suggestion_.candidates)
    assert len(below.patches) == 2 * len(counted.suggestion_.candidates)
    assert below.texts[0].get_text() == "4"
    assert plot.suggestion(counted.suggestion_).axes[1].texts[0].get_text() == "4"
    matplotlib.pyplot.close("all")


def test_a_picture_needs_a_suggestion(blobs):
    with pytest.raises(ValueError, match="n_clusters='auto'"):
        plot.suggestion(ESTIMATORS["SCEDAE"]().fit(blobs[0]))


def test_pictures_and_report_of_a_counted_model(tetra, counted, tmp_path):
    assert plot.spectrum(counted).get_legend().get_texts()[1].get_text() == "k = 4"
    matplotlib.pyplot.close("all")
    write_report(counted, tetra[0], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "sorted into 4 clusters" in page
