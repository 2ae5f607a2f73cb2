"""scikit-learn's own contract, for every estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from scedae.metrics import clustering_accuracy
from tests.helpers import ESTIMATORS, EXPECTED_FAILURES, SPECTRAL

# Estimators that differ from DKM in their objective alone.
LIKE_DKM = ("DCN", "IDEC")


def quick(name):
    arguments = {"n_landmarks": 20} if name in SPECTRAL else {}
    if name != "LandmarkSpectralClustering":
        arguments |= {"epochs": 3, "hidden_layers": (16, 12)}
    # A fixed seed: a network this narrow dies from some starts, which is an error.
    return ESTIMATORS[name](3, random_state=0, **arguments)


@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@pytest.mark.filterwarnings("ignore::scedae.exceptions.CollapsedMemberWarning")
@parametrize_with_checks(
    [quick(name) for name in ESTIMATORS if name not in LIKE_DKM],
    expected_failed_checks=lambda e: EXPECTED_FAILURES.get(type(e).__name__, {}),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow  # all of them together
@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@pytest.mark.filterwarnings("ignore::scedae.exceptions.CollapsedMemberWarning")
@parametrize_with_checks([quick(name) for name in LIKE_DKM])
def test_scikit_learn_contract_of_those_like_dkm(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_in_a_pipeline_and_cloned(blobs, name):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), clone(ESTIMATORS[name]()))
    labels = pipeline.fit_predict(X)
    assert clustering_accuracy(y, labels) > 0.95
    assert (pipeline.predict(X) == labels).all()
    assert pipeline.transform(X).shape[0] == len(X)


def test_grid_search_over_landmarks_without_labels(blobs):
    X, _ = blobs
    search = GridSearchCV(ESTIMATORS["SCEDAE"](), {"n_landmarks": [3, 20]}, cv=2)
    search.fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and scores[0] != scores[1]
    assert search.best_params_["n_landmarks"] == [3, 20][int(scores.argmax())]
    model = search.best_estimator_
    points = model.transform(X)
    own = model.cluster_centers_[model.predict(X)]
    expected = -((points - own) ** 2).sum(1).mean()
    assert model.score(X) == pytest.approx(expected)


def test_grid_search_with_labels_to_score(blobs):
    X, y = blobs
    search = GridSearchCV(
        ESTIMATORS["LandmarkSpectralClustering"](),
        {"n_landmarks": [10, 20]},
        scoring="adjusted_rand_score",
        cv=2,
    )
    assert search.fit(X, y).best_score_ > 0.9


@pytest.mark.parametrize("name", ESTIMATORS)
def test_names_of_the_embedding_columns(blobs, name):
    model = ESTIMATORS[name]().fit(blobs[0])
    names = model.get_feature_names_out()
    assert len(names) == model.embedding_.shape[1]
    assert names[0] == f"{name.lower()}0"
