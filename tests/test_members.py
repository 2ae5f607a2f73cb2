import pytest

from scedae import SCEDAE, MemberSpec
from scedae._members import plan_members
from tests.helpers import QUICK

WIDTHS = (500, 750, 1000)


def test_structure_takes_the_six_orders():
    members = plan_members("structure", None, WIDTHS, 50, 500)
    assert len({m.hidden_layers for m in members}) == 6
    assert {(m.epochs, m.n_landmarks, m.initialization) for m in members} == {
        (50, 500, 0)
    }


def test_more_structures_than_orders_start_anew():
    members = plan_members("structure", 8, WIDTHS, 50, 500)
    assert len(set(members)) == 8
    assert members[6] == MemberSpec(WIDTHS, 50, 500, 1)
    assert members[:6] == plan_members("structure", 6, WIDTHS, 50, 500)


def test_equal_widths_have_one_order():
    assert len(plan_members("structure", None, (9, 9, 9), 5, 50)) == 1


def test_initialization_varies_the_start():
    members = plan_members("initialization", 5, WIDTHS, 50, 500)
    assert [m.initialization for m in members] == [0, 1, 2, 3, 4]


def test_epochs_are_those_of_the_paper():
    members = plan_members("epochs", 5, WIDTHS, 250, 500)
    assert [m.epochs for m in members] == [50, 100, 150, 200, 250]


def test_landmarks_grow():
    members = plan_members("landmarks", 5, WIDTHS, 250, 1000)
    assert [m.n_landmarks for m in members] == [200, 400, 600, 800, 1000]


def test_few_epochs_give_few_snapshots():
    assert [m.epochs for m in plan_members("epochs", 5, WIDTHS, 2, 9)] == [1, 2]


def count_trainings(monkeypatch):
    """How many trainings of how many epochs a fit really runs."""
    import scedae._member_training as training

    seen = []
    original = training.train_runs

    def spy(source, runs, *rest):
        seen.extend(run.epochs for run in runs)
        return original(source, runs, *rest)

    monkeypatch.setattr(training, "train_runs", spy)
    return seen


@pytest.mark.parametrize(
    ("ensemble", "trainings", "members"),
    [
        ("structure", [20] * 6, 6),
        ("initialization", [20] * 5, 5),
        ("epochs", [20], 5),
        ("landmarks", [20], 5),
    ],
)
def test_members_share_trainings(blobs, monkeypatch, ensemble, trainings, members):
    seen = count_trainings(monkeypatch)
    model = SCEDAE(3, ensemble=ensemble, n_landmarks=50, random_state=0, **QUICK)
    model.fit(blobs[0])
    assert seen == trainings
    assert len(model.members_) == members + 3  # on the rows
    assert [len(m.history) for m in model.members_] == [
        m.spec.epochs for m in model.members_
    ]


def test_a_list_of_members_is_an_ensemble_too(blobs):
    members = [MemberSpec((12, 8), 10, 40), MemberSpec((), 0, 30)]
    model = SCEDAE(3, ensemble=members, encoding_dim=3, random_state=0).fit(blobs[0])
    assert [m.spec for m in model.members_] == members
    assert model.pipeline_.members[1].encoder is None
    assert (model.predict(blobs[0]) == model.labels_).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden_layers": "8"},
        {"hidden_layers": 8},
        {"hidden_layers": (0,)},
        {"hidden_layers": (8,), "epochs": 1.5},
        {"hidden_layers": (8,), "n_landmarks": 1},
        {"hidden_layers": (8,), "initialization": -1},
    ],
)
def test_members_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="must be"):
        MemberSpec(**{"epochs": 5, "n_landmarks": 20, **wrong})


def test_orders_of_many_layers_are_counted_first():
    with pytest.raises(ValueError, match="say how many"):
        plan_members(
            "structure",
            hidden_layers=range(1, 12),
            epochs=5,
            n_landmarks=20,
            n_members=None,
        )
