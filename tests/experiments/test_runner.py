"""Runs: once each, resumed where they stopped, and equal to the estimator's own."""

import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs

from scedae import SCEDAE, MemberSpec
from scedae.exceptions import CollapsedEnsembleError
from scedae.experiments import (
    clustering,
    data_sets,
    encodings,
    joint_runs,
    kept_files,
    other_tails,
    plan,
    session,
    shape_runs,
)
from scedae.experiments.encodings import planned_members
from scedae.experiments.environment import Place
from scedae.experiments.folder import RequestError
from scedae.experiments.other_tails import OtherTail, cluster_otherwise
from scedae.experiments.plan import PaperRun, plan_runs
from scedae.experiments.specification import NAMES, load_specification
from scedae.experiments.store import Store
from scedae.metrics import clustering_accuracy
from tests.experiments import tiny


def key(record):
    return PaperRun.of(record).key


def forbid(monkeypatch, *places):
    def refuse(*arguments, **named):
        raise AssertionError("computed again")

    for module, name in places:
        monkeypatch.setattr(module, name, refuse)


def test_every_name_ends_in_records(everything):
    _, records = everything
    planned = plan.plan_runs(list(NAMES), ["usps"], tiny.specification(), 2)
    assert sorted(map(key, records)) == sorted(run.key for run in planned)
    for record in records:
        assert record["rows"] > 0 and record["seconds"] >= 0
        assert record["device"] == "cpu"
        assert {"torch", "numpy", "scedae"} <= set(record["versions"])
        assert isinstance(record["seed"], int)
        if record["method"] != "map":
            assert all(-0.5 <= score <= 1 for score in record["scores"].values())
            # The arithmetic mean of two entropies is never below the geometric one.
            assert record["scores"]["nmi_geometric"] >= record["scores"]["nmi"] - 1e-6


def test_nothing_is_done_twice(finished, monkeypatch):
    """Not even loaded, and whether the encodings are still there or not."""
    shutil.rmtree(finished.folder / "encodings")
    forbid(
        monkeypatch,
        (session, "carry_out"),
        (session, "train_encodings"),
        (session, "fit_joint"),
        (session, "cluster_shape"),
        (session, "draw_map"),
        (tiny.data_sets, "_load"),
    )
    assert finished(*NAMES) == []


def test_encodings_are_trained_once_for_all_names(reproduce, monkeypatch):
    first = reproduce("landmarks")
    forbid(monkeypatch, (session, "train_encodings"))
    again = reproduce("landmarks", "ensembles", "embedding")
    assert not {key(r) for r in first} & {key(r) for r in again}


def test_a_lost_record_is_the_only_one_made_again(reproduce):
    before = {key(r): r["scores"] for r in reproduce("ensembles")}
    file = reproduce.folder / "records" / "ensembles-usps.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:3] + lines[4:]))
    (record,) = reproduce("ensembles")
    assert record["scores"] == before[key(record)]


@pytest.mark.parametrize("n", [1, 3])
def test_any_number_of_replicates(reproduce, n):
    assert len(reproduce("landmarks", replicates=n)) == 2 * n
    assert len(reproduce("landmarks", replicates=n + 1)) == 2


def test_a_map_that_is_missing_needs_only_b(reproduce, monkeypatch):
    reproduce("embedding")
    forbid(monkeypatch, (session, "embed_rows"), (session, "train_encodings"))
    (record,) = reproduce("tsne")
    assert record["method"] == "map"


def test_b_is_made_again_for_a_map_when_it_is_gone(reproduce):
    reproduce("embedding")
    shutil.rmtree(reproduce.folder / "encodings")
    assert [r["method"] for r in reproduce("tsne")] == ["embedding", "map"]


def test_clustering_kept_encodings_is_the_estimators_fit(reproduce, monkeypatch):
    """One tail: what is scored here is what ``SCEDAE.paper`` gives."""
    reproduce("ensembles", replicates=1)
    specification = tiny.specification()
    data = tiny.load_blobs("", "", None)
    run = PaperRun("ensembles", "usps", "ens-struct", 0, "", 1, 5, 20)
    monkeypatch.setattr(PaperRun, "seed", lambda self, root: root)
    place = Place(specification, reproduce.folder, "cpu")
    fit = clustering.cluster_encodings(run, place, data, place.clustering_device(90))

    members = [
        MemberSpec(specification.widths(s), 5, 20, 1) for s in specification.structures
    ]
    model = SCEDAE.paper(
        3,
        ensemble=members,
        batch_size=specification.batch_size,
        random_state=0,
        device="cpu",
    )
    model.fit(data.rows)
    np.testing.assert_array_equal(fit.labels, model.labels_)
    np.testing.assert_array_equal(fit.embedding, model.embedding_)


def test_trainings_have_the_batches_of_the_tables(reproduce, monkeypatch):
    """And not those of the preset, unless a reading says so."""
    asked = {}

    def noted(module, name):
        does = getattr(module, name)

        def note(model, *more):
            asked.setdefault(module, set()).add(model.batch_size)
            return does(model, *more)

        monkeypatch.setattr(module, name, note)

    noted(encodings, "_encode")
    noted(shape_runs, "_fit")
    reproduce("ensembles", "choices", "fcps", replicates=1)
    assert asked == {encodings: {256}, shape_runs: {256}}
    reproduce("readings", replicates=1)
    assert asked[encodings] == {256, 32}


def test_members_of_each_ensemble(small_world):
    specification = tiny.specification()

    def names(method, *where):
        run = PaperRun("ensembles", "usps", method, 0, *where)
        return [name for name, _ in clustering.run_members(run, specification)]

    one = "500-750-1000"
    assert names("ens-init", one, None, 5, 20) == [f"{one}/0/5", f"{one}/1/5"]
    assert names("ens-ep", one, 1, None, 20) == [f"{one}/1/1", f"{one}/1/5"]
    two = ["500-750-1000/0/5", "500-1000-750/0/5"]
    assert names("ens-struct", "", 0, 5, 20) == two
    assert names("ens-landmarks", one, 0, 5) == [f"{one}/0/5"] * 2


def test_variants_change_what_they_say(reproduce):
    """A variant that changed nothing would be a reference under another name."""
    records = reproduce("choices", replicates=1)
    files = {path.name for path in (reproduce.folder / "encodings").iterdir()}
    assert files == {"usps.safetensors", "usps-encoding_dim-5.safetensors"}
    assert {r["epochs"] for r in records if "fifth" in r["variant"]} == {1}
    device = torch.device("cpu")
    path = reproduce.folder / "encodings" / "usps-encoding_dim-5.safetensors"
    assert kept_files.read_encoding(path, "500-750-1000/0/5", device).shape == (90, 5)


def test_an_encoding_nobody_planned_is_an_error(reproduce):
    """Absent is not collapsed: a slip in a name must not score as one cluster."""
    reproduce("landmarks", replicates=1)
    path = reproduce.folder / "encodings" / "usps.safetensors"
    with pytest.raises(Exception, match="does not contain"):
        kept_files.read_encoding(path, "1-2-3/0/5", torch.device("cpu"))


def test_a_seed_that_collapses_does_not_take_the_others_along(monkeypatch):
    def fit_seeds(model, rows, seeds):
        if 1 in seeds:
            raise CollapsedEnsembleError
        return [type("Fitted", (), {"labels_": np.arange(len(rows))}) for _ in seeds]

    monkeypatch.setattr(joint_runs, "fit_seeds", fit_seeds)
    data = tiny.load_blobs("", "", None)
    labels = joint_runs._labels_of_seeds(None, data, [0, 1, 2])
    assert [len(set(found)) for found in labels] == [90, 1, 90]


@pytest.mark.parametrize(
    ("names", "data", "n", "words"),
    [
        (["tabels"], ["usps"], 1, "no name 'tabels'"),
        (["fcps"], ["ups"], 1, "no data set 'ups'"),
        ([], ["usps"], 1, "at least one name"),
        (["fcps"], ["usps"], 0, "at least 1"),
        (["comparison"], ["pendigits"], 1, "no comparison for pendigits"),
    ],
)
def test_what_does_not_exist_is_refused(reproduce, names, data, n, words):
    with pytest.raises(RequestError, match=words):
        reproduce(*names, data=data, replicates=n)
    assert not reproduce.folder.exists()


def test_small_and_full_numbers_do_not_mix(reproduce):
    reproduce("landmarks", replicates=1)
    with pytest.raises(RequestError, match="holds a paper run"):
        reproduce("landmarks", quick=True)


def test_a_failing_run_stops_the_others_and_keeps_what_is_done(reproduce, monkeypatch):
    done = []

    def carry_out(run, place):
        if len(done) == 3:
            raise RuntimeError("no more")
        done.append(run)
        return clustering.carry_out(run, place)

    monkeypatch.setattr(session, "carry_out", carry_out)
    with pytest.raises(RuntimeError, match="no more"):
        reproduce("landmarks")
    assert len(list(Store(reproduce.folder).records())) == 3 + 1  # and the training


def test_a_tail_with_nothing_changed_is_the_methods_own(reproduce):
    """What readings change is all they change."""
    reproduce("ensembles", replicates=1)
    run = PaperRun("ensembles", "usps", "ens-struct", 0, "", 1, 5, 20)
    place = Place(tiny.specification(), reproduce.folder, "cpu")
    data, cpu = tiny.load_blobs("", "", None), torch.device("cpu")
    fit = clustering.cluster_encodings(run, place, data, cpu)
    codes = [m.codes for m in clustering._encoded_members(run, place, cpu)]
    seed = run.seed(0)
    same = cluster_otherwise(codes, [20, 20], 3, OtherTail(), seed)
    np.testing.assert_array_equal(same, fit.labels)


@pytest.mark.parametrize(
    "tail",
    [
        OtherTail(bandwidth="release"),
        OtherTail(first_vectors=True),
        OtherTail(first_vectors=True, unit_rows=False),
        OtherTail(unit_codes=True),
    ],
)
def test_other_tails_find_clear_clusters(tail):
    rows, classes = make_blobs(300, 5, centers=3, random_state=1, cluster_std=0.3)
    codes = [torch.from_numpy(rows).float(), torch.from_numpy(rows[:, ::-1].copy())]
    labels = cluster_otherwise([c.float() for c in codes], [30, 30], 3, tail, 0)
    assert clustering_accuracy(classes, labels) == 1


def test_the_bandwidth_of_the_release_is_the_mean_of_all_squares():
    rows, landmarks = torch.rand(40, 3).double(), torch.rand(7, 3).double()
    expected = torch.cdist(rows, landmarks).square().mean()
    found = other_tails._mean_of_all_squares(rows, landmarks)
    assert found == pytest.approx(float(expected))


def test_a_larger_draw_of_members_holds_the_smaller_one(small_world):
    specification = tiny.specification()

    def drawn(m, replicate):
        run = PaperRun("curves", "usps", "ens-members", replicate, "", None, 5, 20)
        run = replace(run, variant=str(m))
        return [name for name, _ in clustering.run_members(run, specification)]

    assert drawn(1, 0) == drawn(3, 0)[:1]
    assert len(set(drawn(4, 0))) == 4  # all networks, each once
    assert {tuple(drawn(1, i)) for i in range(20)} == {(n,) for n in drawn(4, 0)}


def test_joint_methods_see_the_published_units():
    data = data_sets.DataSet(np.array([[0.0, 0.5, 1.0]]), np.array([0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data_sets, "_load", lambda *arguments: data)
        for key, method, values in (
            ("usps", "dcn", [-1, 0, 1]),
            ("mnist", "idec", [0, 2.55, 5.1]),
            ("mnist", "dkm", [0, 0.5, 1]),  # another program than IDEC's
        ):
            load = partial(data_sets.load_for_joint, load_specification(), key)
            np.testing.assert_allclose(load(method).rows, [values])
            np.testing.assert_allclose(load(None).rows, data.rows)


def test_joint_methods_have_the_published_settings(tmp_path):
    data = tiny.load_blobs("", "", None)
    place = Place(load_specification(), tmp_path, "cpu")

    def model(method, key):
        run = PaperRun("joint", key, method, 0, variant="published")
        settings = joint_runs._published(run, place.specification)
        return joint_runs._model(method, data, place, settings)

    assert model("dcn", "usps").clustering_weight == 0.2
    descending, usual = model("idec-pretrained", "usps"), model("idec", "mnist")
    assert descending.variation.momentum == 0.99 and descending.joint_rate == 0.1
    assert (descending.update_interval, usual.update_interval) == (30, 140)
    assert usual.variation.momentum is None and descending.pretrain
    assert {model(m, "usps").scale for m in ("dcn", "idec", "dkm")} == {"raw"}


def test_a_reading_may_have_fewer_networks():
    spec = load_specification()
    runs = plan_runs(["readings"], ["mnist"], spec, 2)
    few = [r for r in runs if r.variant == "batches of 32, one initialization"]
    assert {r.method for r in few} == {"ens-ep", "ens-struct"}  # no Ens.Init. of one
    assert {r.initialization for r in few} == {0}
    members = planned_members(spec, spec.variant(few[0].variant))
    assert len(members) == len(spec.structures) * len(spec.epochs)
