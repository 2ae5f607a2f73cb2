"""How sure each label is: the same in fit and predict, and doubtful where it errs."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from scedae import SCEDAE, LandmarkSpectralClustering, datasets
from scedae.exceptions import (
    CollapsedMemberWarning,
    DegenerateDataWarning,
    ModelFileError,
)
from tests.helpers import ESTIMATORS
from tests.test_persistence import rewrite

SPECTRAL = ["SCEDAE", "LandmarkSpectralClustering", "AutoencoderLSC"]
every_estimator = pytest.mark.parametrize("name", SPECTRAL)


@pytest.fixture
def overlapping(rng):
    """Four clouds that run into each other: some rows are doubtful."""
    return rng.standard_normal((300, 5)) + 2 * rng.integers(0, 2, (300, 5))


@every_estimator
def test_training_rows_get_their_confidence_back_in_any_company(overlapping, name):
    X = overlapping
    model = ESTIMATORS[name](k=7).fit(X)
    assert model.confidence_.shape == (len(X),)
    assert 0 <= model.confidence_.min() < 0.3
    assert 0.5 < model.confidence_.max() <= 1
    assert (model.predict_confidence(X) == model.confidence_).all()
    for rows in (slice(0, 1), slice(5, 50), slice(None, None, 7)):
        labels, confidence = model.predict_with_confidence(X[rows])
        assert (labels == model.labels_[rows]).all()
        assert (confidence == model.confidence_[rows]).all()


@every_estimator
def test_a_loaded_model_is_as_sure(overlapping, name, tmp_path):
    model = ESTIMATORS[name]().fit(overlapping)
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert (loaded.confidence_ == model.confidence_).all()
    assert (loaded.member_agreement_ == model.member_agreement_).all()
    assert (loaded.predict_confidence(overlapping) == model.confidence_).all()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda info, t: info.update(version=1), "format version 1"),
        (lambda info, t: t.pop("member.0.votes"), "lacks the tensor"),
        (lambda info, t: t.pop("confidence"), "lacks the tensor"),
        (lambda info, t: t.pop("member_agreement"), "lacks the tensor"),
        (
            lambda info, t: t.update(
                {"member.0.votes": t["member.0.votes"].T.contiguous()}
            ),
            "does not fit",
        ),
    ],
)
def test_a_file_without_votes_is_refused(overlapping, tmp_path, damage, message):
    path = tmp_path / "model"
    ESTIMATORS["LandmarkSpectralClustering"]().fit(overlapping).save(path)
    rewrite(path, damage)
    with pytest.raises(ModelFileError, match=message):
        LandmarkSpectralClustering.load(path)


def test_rows_between_two_clouds_are_doubtful(blobs):
    X, y = blobs
    model = ESTIMATORS["SCEDAE"]().fit(X)
    middles = [X[y == c].mean(0) for c in range(3)]
    clear = model.predict_confidence(middles)
    doubtful = model.predict_confidence([(middles[0] + middles[1]) / 2])
    assert doubtful[0] < clear.min()


def test_members_agree_on_clear_data_and_less_on_noise(blobs, rng):
    clear = ESTIMATORS["SCEDAE"]().fit(blobs[0])
    assert clear.member_agreement_.shape == (9,)
    assert (clear.member_agreement_ > 0.99).all()
    noise = ESTIMATORS["SCEDAE"](k=6).fit(rng.standard_normal((240, 6)))
    assert (noise.member_agreement_ < 0.9).all()


def test_a_collapsed_member_has_no_agreement(blobs, monkeypatch, tmp_path):
    seen = []

    def first_collapses(codes):
        seen.append(codes)
        return len(seen) == 1

    monkeypatch.setattr("scedae._ensemble.is_collapsed", first_collapses)
    with pytest.warns(CollapsedMemberWarning):
        model = ESTIMATORS["SCEDAE"]().fit(blobs[0])
    assert np.isnan(model.member_agreement_).tolist() == [True] + [False] * 8
    model.save(tmp_path / "model")
    loaded = SCEDAE.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.member_agreement_, model.member_agreement_)


@every_estimator
@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
def test_one_cluster_has_no_rival(overlapping, name):
    model = ESTIMATORS[name](k=1).fit(overlapping)
    np.testing.assert_allclose(model.confidence_, 1)
    assert (model.predict_confidence(overlapping[:1]) == model.confidence_[:1]).all()


@every_estimator
def test_rows_that_are_all_equal_are_all_doubtful(name):
    X = np.ones((40, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        model = ESTIMATORS[name]().fit(X)
    assert np.isfinite(model.confidence_).all()
    assert len(np.unique(model.confidence_)) == 1
    assert (model.predict_confidence(X[:1]) == model.confidence_[:1]).all()


# --- doubt falls on errors --------------------------------------------------------


def error_rates(y, labels, confidence):
    """Share of errors in the most doubtful tenth of the rows, and in the rest."""
    counts = contingency_matrix(y, labels)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    class_of = np.full(counts.shape[1], -1)
    class_of[clusters] = classes
    wrong = class_of[np.unique(labels, return_inverse=True)[1]]
    wrong = wrong != np.unique(y, return_inverse=True)[1]
    order = np.argsort(confidence, kind="stable")
    tenth = len(order) // 10
    return wrong[order[:tenth]].mean(), wrong[order[tenth:]].mean()


def test_errors_on_digits_are_among_the_doubtful():
    X, y = datasets.load_digits()
    model = SCEDAE(10, epochs=100, random_state=0).fit(X)
    doubtful, rest = error_rates(y, model.labels_, model.confidence_)
    assert doubtful > 4 * rest


@pytest.mark.data
def test_errors_on_pendigits_are_among_the_doubtful(data_folder):
    """On the rows themselves, and for rows never seen."""
    X, y = datasets.load_pendigits("train")
    new_X, new_y = datasets.load_pendigits("test")
    model = LandmarkSpectralClustering(10, random_state=0).fit(X)
    doubtful, rest = error_rates(y, model.labels_, model.confidence_)
    assert doubtful > 3 * rest
    doubtful, rest = error_rates(new_y, *model.predict_with_confidence(new_X))
    assert doubtful > 2 * rest


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["usps", "pendigits"])
def test_errors_of_the_ensemble_are_among_the_doubtful(data_folder, name):
    X, y = getattr(datasets, f"load_{name}")()
    model = SCEDAE(10, random_state=0).fit(X)
    doubtful, rest = error_rates(y, model.labels_, model.confidence_)
    assert doubtful > 3 * rest
