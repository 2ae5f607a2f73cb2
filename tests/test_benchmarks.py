"""The quality benchmark: what its tables say, and what it leaves out."""

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


@pytest.fixture
def quality():
    return importlib.import_module("quality")


@pytest.fixture
def tables():
    return importlib.import_module("quality_table")


def record(data, recipe, acc, seed=0, **more):
    return {
        "data": data,
        "recipe": recipe,
        "seed": seed,
        **dict.fromkeys(("acc", "nmi", "ari"), acc),
        "seconds": 1.5,
        "device": "a CPU",
        "versions": {"peer": "1.0"},
        **more,
    }


def test_ties_share_a_rank_and_no_answer_is_last(tables):
    means = {
        ("tetra", "a"): 100.0,
        ("tetra", "b"): 100.0,
        ("tetra", "c"): 90.0,
        ("mnist", "a"): 95.0,
        ("mnist", "c"): 50.0,
    }
    assert tables.mean_ranks(means) == {"a": 1.25, "b": 2.25, "c": 2.5}


def test_worst_deficit_is_against_kmeans_where_both_ran(tables):
    means = {
        ("tetra", "kmeans"): 90.0,
        ("tetra", "a"): 100.0,
        ("lsun", "kmeans"): 80.0,
        ("lsun", "a"): 76.5,
        ("tetra", "b"): 91.0,
        ("mnist", "b"): 10.0,
    }
    deficits = tables.worst_deficits(means)
    assert deficits == {"a": (3.5, "lsun"), "b": (-1.0, "tetra")}


def test_scores_have_a_line_a_set_and_a_column_a_recipe(tables):
    records = [
        record("tetra", "kmeans", 90.0),
        record("tetra", "kmeans", 92.0, seed=1),
        record("lsun", "a", 76.54),
    ]
    lines = tables.scores(records, "acc").splitlines()
    assert lines[0] == "| ACC | kmeans | a |"
    assert lines[2] == "| tetra | 91.0 ± 1.4 |  |"
    assert lines[3] == "| lsun |  | 76.5 ± 0.0 |"
    assert lines[4] == "| **mean rank** | 1.50 | 1.50 |"
    assert len({line.count("|") for line in lines}) == 1


def test_halves_are_ranked_apart(tables):
    records = [
        record("tetra", "a", 90.0),
        record("tetra", "b", 80.0),
        record("lsun", "a", 70.0),
        record("lsun", "b", 80.0),
        record("atom", "a", 90.0),
        record("atom", "b", 10.0),
    ]
    halves = {"A": ["tetra", "atom"], "B": ["lsun"]}
    lines = tables.ranks_of_halves(records, halves).splitlines()
    assert lines[2] == "| ACC, A | 1.00 | 2.00 |"
    assert lines[3] == "| ACC, B | 2.00 | 1.00 |"
    assert lines[4] == "| ACC, all | 1.33 | 1.67 |"


def test_costs_and_provenance_of_older_records_without_memory(tables):
    records = [record("tetra", "a", 90.0), record("tetra", "b", 80.0, megabytes=1234.4)]
    text = tables.table(records, {"A": ["tetra"], "B": ["lsun"]})
    assert "| tetra |  | 1,234 |" in text
    assert "Seeds: 1. Devices: a CPU. Versions: peer 1.0." in text


def test_noise_follows_the_nearest_direction():
    recipes = importlib.import_module("quality_recipes")
    X = np.array([[1.0, 0.0], [0.0, 1.0], [9.0, 1.0], [0.1, 0.5]])
    labels = np.array([4, 7, -1, -1])
    assert recipes.give_noise_away(X, labels).tolist() == [4, 7, 4, 7]
    all_noise = np.full(4, -1)
    assert recipes.give_noise_away(X, all_noise).tolist() == all_noise.tolist()


def test_obstacles_are_told(quality, monkeypatch):
    absent = replace(quality.RECIPES["evoc"], packages=("no-such-package",))
    monkeypatch.setitem(quality.RECIPES, "evoc", absent)
    assert "no-such-package is not installed" in quality.obstacle("evoc", 10)
    assert "70,000 rows" in quality.obstacle("spectral", 70_000)
    assert quality.obstacle("spectral", 20_000) is None


def test_runs_are_recorded_and_not_repeated(quality, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SCEDAE_DATA", str(tmp_path))
    output = tmp_path / "quality.jsonl"
    sets = {name: quality.DATA[name] for name in ("letter", "digits")}
    for seeds in (1, 2):
        quality.run_all(sets, ["kmeans"], seeds, output)
    records = [json.loads(line) for line in output.read_text().splitlines()]
    assert [r["seed"] for r in records] == [0, 1]
    assert records[0]["clusters"] == 10
    assert set(records[0]["versions"]) == {"scikit-learn"}
    assert "letter is left out" in capsys.readouterr().err


def test_sets_of_a_folder(quality, tmp_path, monkeypatch, capsys):
    X = np.repeat([[0.0, 1.0], [9.0, 7.0]], 10, axis=0)
    np.savez(tmp_path / "own.npz", X=X, y=np.repeat([0, 1], 10))
    output = str(tmp_path / "records.jsonl")
    arguments = ["--folder", str(tmp_path), "--recipes", "kmeans", "-o", output]
    monkeypatch.setattr("sys.argv", ["quality.py", *arguments, "--seeds", "1"])
    quality.main()
    assert "| own | 100.0 ± 0.0 |" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["quality.py", *arguments, "--data", "digits"])
    with pytest.raises(SystemExit):
        quality.main()
    assert "no such set: digits (own)" in capsys.readouterr().err


def test_a_run_that_two_files_have_counts_once(quality, tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(json.dumps(record("tetra", "fast", 90)) + "\n")
    more = [record("tetra", "fast", 10), record("tetra", "fast", 80, seed=1)]
    second.write_text("".join(json.dumps(each) + "\n" for each in more))
    found = quality.merged([first, second])
    assert [each["acc"] for each in found] == [90, 80]


@pytest.mark.slow
def test_training_together_is_measured():
    together = importlib.import_module("together")
    record = together.measure("digits", torch.device("cpu"), n_steps=8, repeats=1)
    assert record["hidden_layers"] == (48, 72, 96)
    assert record["steps"] == 8
    # Fewer milliseconds a step would be faster than the products alone can be.
    assert record["over_floor"] > 0.5
    ratio = record["apart_ms_a_step"] / record["together_ms_a_step"]
    assert record["speed_up"] == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize("name", ["bananas", "face", "circles", "flower"])
def test_shapes_are_written_block_by_block_with_their_clusters(
    name, tmp_path, monkeypatch
):
    shapes = importlib.import_module("shapes")
    monkeypatch.setattr(shapes, "BLOCK", 700)
    path = shapes.write_rows(name, 2000, tmp_path)
    X, y = np.load(path), np.load(tmp_path / f"{name}-2000.classes.npy")
    assert X.shape == (2000, 2) and X.dtype == np.float32
    counts = np.bincount(y, minlength=len(shapes.SHAPES[name].parts))
    shares = np.divide(shapes.SHAPES[name].shares, sum(shapes.SHAPES[name].shares))
    np.testing.assert_allclose(counts / 2000, shares, atol=0.05)
    # Blocks are drawn anew, not repeated.
    assert len(np.unique(X, axis=0)) == 2000


def test_a_large_file_has_its_rows_in_their_place(tmp_path, monkeypatch):
    large = importlib.import_module("large_file")
    path = tmp_path / "rows.npy"
    np.lib.format.open_memmap(path, "w+", np.float32, (500, 32))
    np.lib.format.open_memmap(large.classes_of(path), "w+", np.int8, (500,))
    monkeypatch.setattr(large, "BLOCK", 200)
    for start in (200, 400, 0):
        large.write_block(path, 500, start)
    X, y = np.load(path), np.load(large.classes_of(path))
    wanted = [large.clouds(min(200, 500 - start), start) for start in (0, 200, 400)]
    np.testing.assert_array_equal(X, np.concatenate([rows for rows, _ in wanted]))
    np.testing.assert_array_equal(y, np.concatenate([own for _, own in wanted]))
    assert large.accuracy(y, (y + 3) % 10) == 1


def test_growth_is_told_as_a_power(capsys):
    growth = importlib.import_module("growth")
    base = {"varied": "clusters", "peak_megabytes": 500, "acc": 99.0}
    growth.table(
        [
            {**base, "clusters": 10, "cpu_seconds": 2.0},
            {**base, "clusters": 100, "cpu_seconds": 20.0},
            {**base, "clusters": 200, "cpu_seconds": 80.0},
        ]
    )
    lines = [line.split(" | ")[3] for line in capsys.readouterr().out.splitlines()[2:]]
    assert lines == ["", "1.00", "2.00"]


@pytest.fixture
def programs(monkeypatch):
    module = importlib.import_module("published_programs")
    for name, value in (("HIDDEN", (12,)), ("WIDTH", 3), ("BATCH", 20)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module, "PRETRAINING", 20)
    monkeypatch.setitem(module.DCN_EPOCHS, True, 5)
    return module


@pytest.fixture
def clouds():
    random = np.random.default_rng(0)
    places = 4 * random.standard_normal((3, 5))
    return np.concatenate([p + 0.3 * random.standard_normal((50, 5)) for p in places])


def test_published_dcn_renews_one_row_a_batch(programs, clouds):
    def labels(**changed):
        program = programs.Program(clouds, [0, 1], torch.device("cpu"))
        return programs.dcn(program, 3, pretrain=True, **changed)

    as_published, meant = labels(), labels(every_row=True)
    kept = ~as_published["seen"]
    assert kept.mean() > 0.5 and meant["seen"].mean() > 0.9
    # Rows that were not drawn have the label that k-means on the codes gave them.
    assert (as_published["end"] == as_published["codes"])[kept].all()


@pytest.mark.parametrize("name", ["idec", "dkm"])
def test_published_programs_find_clouds(programs, clouds, name):
    program = programs.Program(clouds, [0, 1], torch.device("cpu"))
    found = programs._program(name, "mnist")(program, 3, True)
    assert found["end"].shape == (2, 150)
    classes = np.repeat(range(3), 50)
    assert min(programs.clustering_accuracy(classes, y) for y in found["end"]) > 0.9


def test_seeds_of_a_published_program_are_apart(programs, clouds):
    def codes(seeds):
        program = programs.Program(clouds, seeds, torch.device("cpu"))
        adam = programs._adam(program.networks.parameters())
        return programs.pretrained(program, adam)

    torch.testing.assert_close(codes([0, 1])[1], codes([1])[0])
