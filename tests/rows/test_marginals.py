"""Single columns: powers against scikit-learn's, weights against the formula."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.preprocessing import PowerTransformer, StandardScaler

from scedae import SCEDAE
from scedae._rows import MemoryRows, gather_statistics, learn_scaler
from scedae._rows import marginals as module
from scedae._rows.marginals import find_marginals, likeliest_powers, to_powers
from scedae.metrics import evaluate
from scedae.report.method import facts
from scedae.report.run import read_run


def found_in(X):
    """What all rows ask for."""
    varies = torch.from_numpy(X.min(0) < X.max(0))
    return find_marginals(torch.from_numpy(X), varies, seed=0)


def skewed_columns(rng, n_rows=400):
    normal = rng.standard_normal((n_rows, 4))
    X = np.column_stack(
        [
            np.exp(normal[:, 0]),
            -np.exp(1.5 * normal[:, 1]),
            normal[:, 2] ** 2,
            normal[:, 3],
        ]
    )
    return StandardScaler().fit_transform(X)


def test_powers_are_those_of_scikit_learn(rng):
    X = skewed_columns(rng)
    theirs = PowerTransformer(standardize=False).fit(X)
    found = likeliest_powers(torch.from_numpy(X))
    np.testing.assert_allclose(found, theirs.lambdas_, atol=5e-3)
    powers = torch.from_numpy(theirs.lambdas_)
    np.testing.assert_allclose(
        to_powers(torch.from_numpy(X), powers), theirs.transform(X), rtol=1e-9
    )


@pytest.mark.parametrize("power", [0.0, 2.0, 1.0])
def test_powers_at_which_the_formula_changes(power):
    values = torch.linspace(-3, 3, 13, dtype=torch.float64)[:, None]
    near = to_powers(values, torch.tensor([power + 1e-9], dtype=torch.float64))
    found = to_powers(values, torch.tensor([power], dtype=torch.float64))
    torch.testing.assert_close(found, near, rtol=1e-6, atol=1e-6)
    assert bool((found.diff(dim=0) > 0).all())


def test_only_skewed_columns_without_a_heavy_value_are_bent(rng):
    X = skewed_columns(rng)
    rare = StandardScaler().fit_transform((rng.random((400, 1)) < 0.1) * 1.0)
    found = found_in(np.hstack([X, rare]))
    assert (found.power != 1).tolist() == [True, True, True, False, False]
    out = found(torch.from_numpy(np.hstack([X, rare])))
    np.testing.assert_allclose(out[:, :4].mean(0), 0, atol=0.05)
    np.testing.assert_allclose(out[:, :4].std(0), 1, atol=0.1)


def test_a_smaller_heap_is_no_tail(rng):
    """Bending would bring a rare cluster nearer to the others."""
    far = np.where(rng.random(1000) < 0.1, 10.0, 0.0) + rng.standard_normal(1000)
    tail = rng.gamma(0.7, size=1000)
    X = StandardScaler().fit_transform(np.column_stack([far, tail]))
    assert abs((X[:, 0] ** 3).mean()) > 1  # skewed, both of them
    found = found_in(X)
    assert (found.power != 1).tolist() == [False, True]


def test_weights_are_corrections_for_ties(rng, monkeypatch):
    columns = np.column_stack(
        [
            rng.integers(0, 2, 300),
            rng.integers(0, 10, 300),
            rng.random(300) < 0.03,
            np.arange(300),
            np.zeros(300),
        ]
    ).astype(float)
    naive = []
    for column in columns.T:
        times = [np.sum(column == value) for value in set(column)]
        naive.append(1 - sum(t**3 - t for t in times) / (300**3 - 300))
    naive[1] = 1  # ten values are enough
    naive[4] = 1  # of one value there is nothing to weigh
    monkeypatch.setattr(module, "known_to_others", lambda values, tested: tested | True)
    found = found_in(columns)
    np.testing.assert_allclose(found.weight, naive, atol=1e-12)
    assert found.weight[3] == 1
    assert found.weight[2] < 0.15


def test_a_measurement_with_many_zeros_keeps_its_weight(rng):
    rain = np.where(rng.random(400) < 0.8, 0.0, rng.random(400))
    days = np.where(rng.random(400) < 0.8, 0, rng.integers(1, 4, 400))
    X = np.column_stack([rain, days, skewed_columns(rng)[:, 0]])
    found = found_in(X)
    assert found.weight[0] == 1
    assert found.weight[1] < 0.6
    assert found.has_heaps


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda X: X, "standard"),  # spectra: skewed here and there, of one unit
        (lambda X: X * np.geomspace(1, 1e6, X.shape[1]), "power"),
        (lambda X: StandardScaler().fit_transform(X), "power"),  # no unit is left
        (lambda X: np.column_stack([X, X[:, 0] > 1]), "power"),  # a flag among them
    ],
)
def test_columns_of_one_unit_are_left_alone(rng, change, kind):
    X = np.exp(rng.standard_normal((2000, 8))) * rng.uniform(0.5, 2, 8)
    rows = MemoryRows(change(X))
    assert learn_scaler(rows, gather_statistics(rows), "auto", 0).kind == kind
    # Who asks for it, gets it.
    assert learn_scaler(rows, gather_statistics(rows), "power", 0).kind == "power"


def test_nothing_is_done_where_nothing_is_asked_for(rng):
    assert found_in(rng.standard_normal((500, 6))) is None
    X = rng.standard_normal((5000, 3)) * [1, 1e4, 1e-4]
    scaler = learn_scaler(MemoryRows(X), gather_statistics(MemoryRows(X)), "power", 0)
    assert scaler.kind == "standard"


def test_a_row_has_the_same_bits_in_any_place(rng):
    X = np.column_stack([skewed_columns(rng), rng.integers(0, 3, 400)])
    found = found_in(X)
    rows = torch.from_numpy(X).float()
    together, before = found(rows).float(), X.copy()
    found(torch.from_numpy(X))
    np.testing.assert_array_equal(X, before)  # whose rows they are, keeps them
    for place in (0, 1, 7, 399):
        alone = found(rows[place : place + 1]).float()
        assert torch.equal(alone[0], together[place])
    # However far off new rows are, they stay finite and within the cut.
    wild = torch.tensor([[1e30] * 5, [-1e30] * 5]).clamp(-10, 10)
    assert bool(found(wild).isfinite().all())
    assert float(found(wild).abs().max()) <= 5


@pytest.mark.parametrize("shares", [(0.2,), (0.5, 0.3)])
@pytest.mark.parametrize("seed", range(2))
def test_columns_of_two_values_do_not_cut_the_clusters(seed, shares):
    """A graph of near rows split along them: one flag of noise hid three clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 400)
    far = rng.standard_normal((3, 6))[y] * 1.5 + rng.standard_normal((400, 6))
    flags = rng.random((400, len(shares))) < shares
    X = np.column_stack([far * [1, 5, 20, 0.1, 3, 1], flags])
    model = SCEDAE(3, effort="fast", random_state=0).fit(X)
    assert evaluate(y, model.labels_)["ari"] > 0.85


def test_the_report_names_the_columns_that_were_mended(rng):
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame(
        {
            "income": rng.gamma(2, 1000, 200),
            "height": 170 + 10 * y + rng.standard_normal(200),
            "weight": 70 + 9 * y + rng.standard_normal(200),
            "member": (rng.random(200) < np.where(y == 1, 0.9, 0.1)) * 1.0,
            "coin": (rng.random(200) < 0.5) * 1.0,
        }
    )
    model = SCEDAE(2, effort="fast", epochs=5, random_state=0).fit(table)
    said = dict(facts(model, read_run({})))["Scaling"]
    assert "1 column skewed, and taken to a power (Yeo–Johnson) (income)" in said
    assert "1 column of few values, with less weight (member)" in said
    assert "1 column left out: hardly a row differs" in said
    assert "(coin)" in said


def test_columns_survive_the_model_file(rng, tmp_path):
    X = np.exp(rng.standard_normal((200, 4)) * [1, 2, 1, 0.5]) * [1, 1e3, 1, 1]
    X[:, 3] = X[:, 3].round()
    model = SCEDAE(3, effort="fast", epochs=5, random_state=0).fit(X)
    assert model.pipeline_.scaler.marginals is not None
    model.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)


def test_a_flag_that_few_rows_have_weighs_nothing_whoever_is_drawn(rng):
    X = np.column_stack([skewed_columns(rng), np.zeros(400)])
    sample, varies = torch.from_numpy(X), torch.tensor([True] * 5)
    assert find_marginals(sample, varies, seed=0).weight[4] == 0
    varies[4] = False  # nobody has it
    assert find_marginals(sample, varies, seed=0).weight[4] == 1


def test_rare_flags_alone_are_left_as_they_are():
    sample, varies = torch.zeros(50, 3), torch.tensor([True] * 3)
    assert find_marginals(sample, varies, seed=0) is None


@pytest.mark.parametrize("constant", [100.0, 0.5, -1.0])
def test_a_constant_column_changes_nothing(constant):
    y = np.repeat([0, 1, 2], 40)
    X = np.column_stack([y, np.full(120, constant)])
    found = SCEDAE(3, effort="fast", epochs=1, random_state=0).fit_predict(X)
    assert evaluate(y, found)["ari"] == 1
