"""refine: a network learns from the ensemble, and may be refused."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from scedae import SCEDAE, Refinement, _defaults
from scedae import _pipeline as pipeline_module
from scedae import _refinement as module
from scedae._defaults import (
    EFFORTS,
    Refining,
    StudentPlan,
    resolve_effort,
    resolve_refining,
)
from scedae._model import VERDICTS
from scedae._refinement import surest
from scedae._rows import stream
from scedae.exceptions import DegenerateDataWarning, ModelFileError
from scedae.report.method import facts
from scedae.report.run import read_run

TINY = {
    "hidden_layers": (8, 6),
    "n_members": 2,
    "epochs": 4,
    "n_landmarks": 40,
    "device": "cpu",
}


# As they are without the fixtures below and of all tests.
student_of, SHIPPED = Refining.student, dict(EFFORTS)
SHIPPED_MOST_MOVED = module._MOST_MOVED


@pytest.fixture(scope="module")
def rows():
    """Two long clouds side by side, and a small one."""
    rng = np.random.default_rng(0)
    clouds = rng.normal(size=(300, 4)) * [3, 0.5, 0.5, 0.5]
    clouds[120:240, 1] += 3
    clouds[240:, 2] += 4
    return clouds


@pytest.fixture(scope="module", autouse=True)
def small_students():
    """Networks that learn in a second, so badly that they move many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_MOVED", 1)
        plan = StudentPlan(2, 24, 256, 2e-3, 150)
        patch.setattr(Refining, "student", lambda *_: plan)
        yield


@pytest.fixture(scope="module")
def model(rows):
    return SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)


@pytest.fixture(scope="module")
def plain(rows):
    return SCEDAE(3, refine=False, random_state=0, **TINY).fit(rows)


def test_the_report_says_what_was_done(model, plain):
    report = model.refinement_
    assert isinstance(report, Refinement)
    assert report.kept
    assert report.reason == VERDICTS["kept"]
    assert plain.refinement_ is None
    assert plain.pipeline_.student is None
    changed = plain.labels_ != model.labels_
    assert report.moved == pytest.approx(changed.mean())
    assert sum(n for _, _, n in report.flows) == changed.sum()
    for source, target, n in report.flows:
        went = (plain.labels_ == source) & (model.labels_ == target)
        assert went.sum() == n
    # All but the labels is as it was.
    np.testing.assert_array_equal(plain.embedding_, model.embedding_)
    assert plain.stability_ == model.stability_


def test_predict_agrees_with_fit_in_any_company(model, rows):
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    np.testing.assert_array_equal(model.predict(rows[7:9]), model.labels_[7:9])
    labels, confidence = model.predict_with_confidence(rows[::-1])
    np.testing.assert_array_equal(labels[::-1], model.labels_)
    np.testing.assert_array_equal(confidence[::-1], model.confidence_)


def test_rows_that_were_moved_are_in_doubt(model, plain):
    moved = plain.labels_ != model.labels_
    assert moved.any()
    assert model.confidence_[moved].max() <= np.median(model.confidence_)


def test_a_seed_repeats_a_refined_fit(model, rows):
    again = SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.confidence_, model.confidence_)


def test_a_file_keeps_the_network_and_the_report(model, rows, tmp_path):
    model.save(tmp_path / "model.scedae")
    loaded = SCEDAE.load(tmp_path / "model.scedae")
    assert loaded.refinement_ == model.refinement_
    np.testing.assert_array_equal(loaded.predict(rows), model.labels_)
    confidence = loaded.predict_confidence(rows)
    np.testing.assert_array_equal(confidence, model.confidence_)


def test_a_file_must_agree_with_itself(model, tmp_path):
    class Liar(SCEDAE):
        pass

    Liar.__name__ = "SCEDAE"
    liar = Liar(3)
    vars(liar).update(
        vars(model), refinement_=replace(model.refinement_, verdict="worse")
    )
    liar.save(tmp_path / "model.scedae")
    with pytest.raises(ModelFileError, match="refinement"):
        SCEDAE.load(tmp_path / "model.scedae")


def test_rows_in_a_file_are_refined_by_their_sample(rows, tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", rows)
    monkeypatch.setattr(stream, "DRAWN_ROWS", 128)
    monkeypatch.setattr(module, "_MOST_WORSE", 2)  # so few rows are learnt badly
    streamed = SCEDAE(3, refine=True, random_state=0, **TINY).fit(tmp_path / "rows.npy")
    assert streamed.refinement_.kept
    assert not hasattr(streamed, "embedding_")  # it was no fit in memory
    np.testing.assert_array_equal(
        np.asarray(streamed.labels_), np.asarray(streamed.predict(rows))
    )


@pytest.mark.parametrize(
    ("spoilt", "verdict"),
    [
        (lambda answers: answers.flip(1) * 0 + torch.eye(3)[[0]], "empty"),
        (lambda answers: answers * float("nan"), "diverged"),
        (
            lambda answers: answers[torch.arange(len(answers)) * 7 % len(answers)],
            "worse",
        ),
    ],
)
def test_a_bad_answer_is_refused(rows, plain, monkeypatch, spoilt, verdict):
    encode = module.encode
    monkeypatch.setattr(
        module, "encode", lambda student, block: spoilt(encode(student, block))
    )
    refused = SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    assert refused.refinement_.verdict == verdict
    assert refused.pipeline_.student is None
    np.testing.assert_array_equal(refused.labels_, plain.labels_)
    np.testing.assert_array_equal(refused.confidence_, plain.confidence_)


def test_who_overrules_the_teacher_is_refused(rows, plain, model, monkeypatch):
    moved = model.refinement_.moved
    assert moved > 0
    monkeypatch.setattr(module, "_MOST_MOVED", moved / 2)
    refused = SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    assert refused.refinement_.verdict == "overruled"
    np.testing.assert_array_equal(refused.labels_, plain.labels_)


def test_a_network_may_decide_about_as_many_rows_as_it_was_left():
    assert pytest.approx(1 - module._TAUGHT) == SHIPPED_MOST_MOVED


def lessons_of(monkeypatch):
    """The lessons that networks are given, in their order."""
    given, taught = [], module._taught

    def remember(rows, lesson, *more):
        given.append(lesson)
        return taught(rows, lesson, *more)

    monkeypatch.setattr(module, "_taught", remember)
    return given


def test_the_second_network_learns_from_the_first(rows, plain, monkeypatch):
    given, answers, encode = lessons_of(monkeypatch), [], module.encode

    def remember(student, block):
        answers.append(encode(student, block))
        return answers[-1]

    monkeypatch.setattr(module, "encode", remember)
    SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    first, second = given
    np.testing.assert_array_equal(first.labels, plain.labels_)
    np.testing.assert_array_equal(second.labels, answers[0].argmax(1))
    best = answers[0].topk(2, dim=1).values
    sure = best[:, 0] - best[:, 1]
    for cluster in range(3):
        of_it = second.labels == cluster
        assert sure[of_it & (second.taught == 0)].max() <= (
            sure[of_it & (second.taught == 1)].min() + 1e-6
        )


def test_what_the_first_network_said_stands_if_the_second_fails(rows, monkeypatch):
    with monkeypatch.context() as patch:
        alone = StudentPlan(1, 24, 256, 2e-3, 150)
        patch.setattr(Refining, "student", lambda *_: alone)
        once = SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    given, encode = lessons_of(monkeypatch), module.encode
    monkeypatch.setattr(
        module,
        "encode",
        lambda student, block: encode(student, block) / (len(given) < 2 or torch.nan),
    )
    twice = SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    assert len(given) == 2
    assert twice.refinement_ == once.refinement_
    np.testing.assert_array_equal(twice.labels_, once.labels_)


def test_one_cluster_has_nothing_to_refine(rows):
    with pytest.warns(DegenerateDataWarning):
        model = SCEDAE(1, refine=True, random_state=0, **TINY).fit(rows)
    assert model.refinement_.verdict == "single"
    assert set(model.labels_) == {0}


def test_the_surest_of_each_cluster_are_taught():
    labels = torch.tensor([0] * 20 + [1] * 5 + [2])
    confidence = torch.linspace(1, 0, 26, dtype=torch.float64)
    taught = surest(labels, confidence, torch.bincount(labels))
    assert taught[:18].all()
    assert not taught[18:20].any()
    assert taught[20:25].tolist() == [True] * 5  # 4.5 rows, rounded up
    assert taught[25]


@pytest.mark.parametrize(
    ("refine", "effort", "device", "expected"),
    [
        ("auto", "fast", "cuda", None),
        ("auto", "default", "cpu", Refining("float32", "light")),
        ("auto", "default", "cuda", Refining("tf32", "full")),
        ("auto", "best", "cpu", Refining("float32", "full")),
        (True, "fast", "cpu", Refining("float32", "light")),
        (False, "best", "cuda", None),
    ],
)
def test_auto_refines_by_effort_and_a_cpu_lightly(refine, effort, device, expected):
    found = resolve_refining(refine, "diffusion", "auto", device, SHIPPED[effort], 600)
    assert found == expected


def test_auto_refines_no_few_rows():
    effort = SHIPPED["default"]
    assert resolve_refining("auto", "diffusion", "auto", "cpu", effort, 599) is None
    assert resolve_refining(True, "diffusion", "auto", "cpu", effort, 599) is not None


def test_lsc_stays_as_published():
    effort = SHIPPED["best"]
    assert resolve_refining("auto", "lsc", "auto", "cuda", effort, 10_000) is None
    assert SCEDAE.paper(3).refine is False


def test_students_grow_with_the_rows():
    for kind in ("full", "light"):
        how = Refining("float32", kind)
        plans = [student_of(how, n, 100) for n in (1000, 10_000, 70_000, 10_000_000)]
        assert plans[0].width < plans[1].width == plans[3].width
        assert plans[1].n_steps < plans[2].n_steps < plans[3].n_steps + 1
        assert plans[3].n_steps == 3000


def test_few_columns_have_a_narrow_student_on_a_cpu():
    light, full = Refining("float32", "light"), Refining("tf32", "full")
    wide, narrow = (student_of(light, 10_000, columns) for columns in (64, 63))
    assert narrow == replace(wide, width=256)
    assert student_of(full, 10_000, 16) == student_of(full, 10_000, 100)


@pytest.mark.parametrize("n_rows", [1000, 10_000, 70_000, 10_000_000])
def test_light_students_cost_a_fraction_of_full_ones(n_rows):
    def cost(kind):
        plan = student_of(Refining("float32", kind), n_rows, 100)
        taught = plan.n_networks * plan.n_steps * plan.batch_size
        return taught * plan.width**2

    assert 3 * cost("light") < cost("full")


def test_the_default_as_shipped_refines_on_a_cpu(rows, monkeypatch):
    monkeypatch.setitem(EFFORTS, "default", SHIPPED["default"])
    monkeypatch.setattr(_defaults, "_FEWEST_REFINED", len(rows))
    shipped = SCEDAE(3, random_state=0, **TINY).fit(rows)
    asked = SCEDAE(3, refine=True, random_state=0, **TINY).fit(rows)
    assert shipped.refinement_ == asked.refinement_ is not None
    np.testing.assert_array_equal(shipped.labels_, asked.labels_)


def test_many_rows_on_a_cpu_train_less_where_a_student_follows():
    light, full = Refining("float32", "light"), Refining("tf32", "full")
    lean = resolve_effort("default", 70_000, light)
    assert (lean.n_members, lean.min_epochs) == (3, 12)
    for n_rows, refining in ((10_000, light), (70_000, full), (70_000, None)):
        assert resolve_effort("default", n_rows, refining) == EFFORTS["default"]
    fast = resolve_effort("fast", 70_000, light)
    assert fast == EFFORTS["fast"]


def test_a_failure_while_refining_loses_nothing(model, rows, monkeypatch):
    def fail(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline_module, "refine", fail)
    estimator = SCEDAE(3, refine=True, random_state=0, **TINY)
    vars(estimator).update(vars(model))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(rows)
    assert estimator.refinement_ is model.refinement_


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_other_values_are_refused(rows, wrong):
    with pytest.raises(ValueError, match="refine"):
        SCEDAE(3, refine=wrong, **TINY).fit(rows)


def test_a_fit_that_was_killed_goes_on_to_the_same_end(model, rows, tmp_path):
    kept = {**TINY, "checkpoint_dir": tmp_path}
    for _ in range(2):  # the second takes up the networks of the first
        found = SCEDAE(3, refine=True, random_state=0, **kept).fit(rows)
        np.testing.assert_array_equal(found.labels_, model.labels_)
        np.testing.assert_array_equal(found.confidence_, model.confidence_)


def test_dask_rows_are_refined_too(rows, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(module, "_MOST_WORSE", 2)
    lazy = da.from_array(rows, chunks=(100, -1))
    fitted = SCEDAE(3, refine=True, random_state=0, **TINY).fit(lazy)
    assert fitted.refinement_.kept
    labels = np.asarray(fitted.labels_)
    np.testing.assert_array_equal(labels, np.asarray(fitted.predict(lazy)))
    np.testing.assert_array_equal(labels, fitted.predict(rows))


def test_the_report_says_what_was_moved(model):
    run = read_run({})
    words = dict(facts(model, run))["Refinement"]
    source, target, n = model.refinement_.flows[0]
    assert f"from cluster {source} to {target} ({n})" in words
    refused = copy(model)
    refused.refinement_ = Refinement("worse", 0.3)
    words = dict(facts(refused, run))["Refinement"]
    assert "not followed" in words
