"""Losses of DCN, IDEC and DKM against independent computations, and what they do."""

import math

import numpy as np
import pytest
import torch

from scedae._autoencoder import learning_rates
from scedae.baselines import DCN, DKM, IDEC, fit_seeds
from scedae.baselines._dcn import _FIRST_COUNT, DCNObjective
from scedae.baselines._dkm import DKMObjective, annealed_alphas, soft_minimum
from scedae.baselines._idec import (
    IDECObjective,
    soft_assignment,
    target_distribution,
)
from scedae.exceptions import CollapsedEnsembleError
from scedae.metrics import clustering_accuracy
from tests.helpers import ESTIMATORS

JOINT = ("DCN", "DKM", "IDEC")
M, B, K, E, N = 2, 7, 3, 4, 20


@pytest.fixture
def numbers(rng):
    codes = torch.tensor(rng.standard_normal((M, B, E)), dtype=torch.float32)
    centers = torch.tensor(rng.standard_normal((M, K, E)), dtype=torch.float32)
    index = torch.tensor(np.stack([rng.permutation(N)[:B] for _ in range(M)]))
    return codes, centers, index


RATES = learning_rates(1e-3, "constant", 10)


def adam_step(centers, gradient):
    """The first step of Adam: the sign of the gradient, times the rate."""
    return centers - 1e-3 * gradient / (gradient.abs() + 1e-8)


def test_soft_minimum_by_hand():
    squared = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    alpha = torch.tensor(0.7, dtype=torch.float64)
    share = np.exp(-0.7 * np.array([1, 2, 4]))
    share /= share.sum()
    value, _ = soft_minimum(squared, alpha)
    assert float(value) == pytest.approx(float(share @ [1, 2, 4]))


def test_soft_minimum_is_the_minimum_when_cold():
    squared = torch.tensor([[0.5, 0.6, 9.0]])
    value, by_distance = soft_minimum(squared, torch.tensor(1000.0))
    assert float(value) == pytest.approx(0.5)
    torch.testing.assert_close(by_distance, torch.tensor([[1.0, 0.0, 0.0]]))


@pytest.mark.parametrize("alpha", [0.1, 5.0])
def test_dkm_gradients_equal_those_of_autograd(numbers, alpha):
    codes, centers, index = numbers
    free = codes.clone().requires_grad_(), centers.clone().requires_grad_()
    squared = torch.cdist(*free).square()
    share = torch.softmax(-alpha * squared, dim=2)
    loss = 0.3 * (squared * share).sum(2).mean(1)
    loss.sum().backward()

    objective = DKMObjective(centers.clone(), 0.3, [alpha], RATES)
    at_codes = objective.gradient(codes, index)
    torch.testing.assert_close(at_codes, free[0].grad, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(objective.take_losses(), loss.detach())
    expected = adam_step(centers, free[1].grad)
    torch.testing.assert_close(objective.centers, expected, atol=1e-5, rtol=0)


def test_annealing_as_published():
    alphas = annealed_alphas()
    assert len(alphas) == 40
    assert alphas[0] == 0.1
    assert alphas[1] == pytest.approx(0.1 * 2 ** (1 / math.log(2) ** 2))
    assert alphas[39] == pytest.approx(alphas[38] * 2 ** (1 / math.log(40) ** 2))


def test_target_distribution_by_hand():
    q = torch.tensor([[0.9, 0.1], [0.6, 0.4]], dtype=torch.float64)
    f = [1.5, 0.5]
    expected = np.array(
        [
            [0.81 / 1.5, 0.01 / 0.5],
            [0.36 / 1.5, 0.16 / 0.5],
        ]
    )
    expected /= expected.sum(1, keepdims=True)
    assert q.sum(0).tolist() == pytest.approx(f)
    np.testing.assert_allclose(target_distribution(q), expected)


def test_soft_assignment_by_hand():
    q = soft_assignment(torch.tensor([0.0, 1.0, 3.0]))
    np.testing.assert_allclose(q, np.array([1, 1 / 2, 1 / 4]) / 1.75, rtol=1e-6)


def test_idec_gradients_equal_those_of_autograd(numbers, rng):
    codes, centers, index = numbers
    all_codes = [
        torch.tensor(rng.standard_normal((N, E)), dtype=torch.float32) for _ in range(M)
    ]
    objective = IDECObjective(centers.clone(), N, 0.1, 0.001, RATES)
    assert objective.begin_round(0, all_codes) == [False] * M

    free = codes.clone().requires_grad_(), centers.clone().requires_grad_()
    loss = torch.zeros(M)
    for m in range(M):
        everyone = soft_assignment(torch.cdist(all_codes[m], centers[m]).square())
        p = target_distribution(everyone)[index[m]]
        closeness = 1 / (1 + torch.cdist(free[0][m], free[1][m]).square())
        q = closeness / closeness.sum(1, keepdim=True)
        loss[m] = 0.1 * (p * (p / q).log()).sum(1).mean()
    loss.sum().backward()

    at_codes = objective.gradient(codes, index)
    torch.testing.assert_close(at_codes, free[0].grad, atol=1e-6, rtol=1e-3)
    torch.testing.assert_close(objective.take_losses(), loss.detach())
    expected = adam_step(centers, free[1].grad)
    torch.testing.assert_close(objective.centers, expected, atol=1e-5, rtol=0)


def test_idec_stops_when_labels_stay(numbers, rng):
    _, centers, _ = numbers
    codes = [torch.tensor(rng.standard_normal((N, E))).float() for _ in range(M)]
    objective = IDECObjective(centers, N, 0.1, 0.1, RATES)
    objective.begin_round(0, codes)
    moved = [codes[0], -codes[1]]
    assert objective.begin_round(1, moved) == [True, False]


def test_dcn_centres_row_after_row(numbers):
    """The published update takes rows one by one, with steps of 1 / count."""
    codes, centers, index = numbers
    expected, counts = centers.double().clone(), torch.full((M, K), float(_FIRST_COUNT))
    squared = torch.cdist(codes, centers).square()
    nearest = squared.argmin(2)
    for m in range(M):
        for row, k in zip(codes[m].double(), nearest[m], strict=True):
            counts[m, k] += 1
            expected[m, k] -= (expected[m, k] - row) / counts[m, k]
    objective = DCNObjective(centers.clone(), 0.5)
    at_codes = objective.gradient(codes, index)
    torch.testing.assert_close(
        objective.centers.double(), expected, rtol=1e-5, atol=1e-6
    )
    # λ/2 |h - c|² has the gradient λ (h - c), for centres as they were.
    assigned = torch.stack([centers[m][nearest[m]] for m in range(M)])
    torch.testing.assert_close(at_codes, 0.5 * (codes - assigned) / B)
    loss = 0.25 * squared.min(2).values.mean(1)
    torch.testing.assert_close(objective.take_losses(), loss)


# Without pretraining a cluster may end without rows, which is reported.
@pytest.mark.filterwarnings("ignore::scedae.exceptions.DegenerateDataWarning")
@pytest.mark.parametrize("pretrain", [True, False])
@pytest.mark.parametrize("name", JOINT)
def test_the_objective_falls(name, pretrain, blobs):
    X, _ = blobs
    never_done = {"tol": 0} if name == "IDEC" else {}
    model = ESTIMATORS[name](pretrain=pretrain, epochs=30, **never_done).fit(X)
    history = [h for h in model.members_[0].history if "clustering_loss" in h]
    total = [h["loss"] + h["clustering_loss"] for h in history]
    assert np.isfinite(total).all()
    if name == "DKM" and not pretrain:  # a colder minimum is another objective
        total = [h["loss"] for h in history]
    assert np.mean(total[-2:]) < total[0]


@pytest.mark.parametrize("name", JOINT)
def test_clouds_are_found(name, blobs):
    X, y = blobs
    assert clustering_accuracy(y, ESTIMATORS[name]().fit_predict(X)) > 0.95


@pytest.mark.parametrize("name", JOINT)
def test_seeds_together_equal_seeds_apart(name, blobs):
    X, _ = blobs
    together = fit_seeds(ESTIMATORS[name](epochs=5), X, [3, 4])
    for seed, model in zip((3, 4), together, strict=True):
        alone = ESTIMATORS[name](epochs=5, random_state=seed).fit(X)
        np.testing.assert_array_equal(model.embedding_, alone.embedding_)
        np.testing.assert_array_equal(model.labels_, alone.labels_)
        assert model.seed_ == alone.seed_
        assert (model.predict(X) == model.labels_).all()


def test_members_that_are_done_are_kept_as_they_were(blobs):
    """IDEC's stopping rule ends members at different rounds of one training."""
    X, _ = blobs
    model = ESTIMATORS["IDEC"](epochs=200, tol=0.01).fit(X)
    assert len(model.members_[0].history) < 40 + 200
    early, late = fit_seeds(ESTIMATORS["IDEC"](epochs=60, tol=0.01), X, [0, 1])
    alone = ESTIMATORS["IDEC"](epochs=60, tol=0.01).fit(X)
    np.testing.assert_array_equal(early.cluster_centers_, alone.cluster_centers_)
    assert late.seed_ == 1


def test_the_code_of_dkm_is_as_wide_as_there_are_clusters(blobs):
    X, _ = blobs
    model = DKM(4, hidden_layers=(12, 8), pretrain_epochs=2, epochs=2, random_state=0)
    assert model.fit(X).embedding_.shape == (240, 4)


@pytest.mark.parametrize(("pretrain", "weight"), [(True, 1.0), (False, 0.1)])
def test_the_weight_of_dkm_follows_from_its_start(pretrain, weight, blobs):
    X, _ = blobs
    auto = ESTIMATORS["DKM"](pretrain=pretrain).fit(X)
    given = ESTIMATORS["DKM"](pretrain=pretrain, clustering_weight=weight).fit(X)
    assert (auto.embedding_ == given.embedding_).all()


@pytest.mark.parametrize("estimator", [DCN, DKM, IDEC])
def test_published_settings_are_the_defaults(estimator):
    parameters = estimator().get_params()
    assert parameters["hidden_layers"] == (500, 500, 2000)
    assert parameters["batch_size"] == 256
    assert parameters["pretrain"] is True


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("name", JOINT)
def test_a_collapse_is_an_error_and_changes_nothing(name, blobs):
    X, _ = blobs
    model = ESTIMATORS[name](learning_rate=1e30)
    with pytest.raises(CollapsedEnsembleError, match="smaller learning_rate"):
        model.fit(X)
    assert not hasattr(model, "labels_")
