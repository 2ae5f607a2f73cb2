import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from scedae._autoencoder import TrainingOptions, TrainingRun, train_runs
from scedae._autoencoder.training import plan_groups
from scedae._rows import MemoryRows, ScaledRows, fit_scaler, gather_statistics
from scedae._threads import helpers, own_threads

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
ORDERS = list(itertools.permutations((12, 8, 10)))


def source_of(X, device=CPU):
    rows = MemoryRows(X, device).brought()
    return ScaledRows(rows, fit_scaler(gather_statistics(rows), "auto"))


def options(schedule="one-cycle", rate=2e-3, bounded=True):
    return TrainingOptions(3, 32, rate, schedule, bounded)


def same(first, second, epoch):
    return all(
        torch.equal(a, b)
        for one, two in zip(
            first.encoders[epoch].layers, second.encoders[epoch].layers, strict=True
        )
        for a, b in zip(one, two, strict=True)
    )


@pytest.fixture
def images(rng):
    """200 rows like small pictures: two groups of columns lit by two sources."""
    source = rng.random((200, 2))
    return np.clip(source @ rng.random((2, 20)) / 2, 0, 1).astype("float32")


def test_the_loss_falls(images):
    (run,) = train_runs(
        source_of(images), [TrainingRun((12, 8), 0, (60,))], options(), CPU
    )
    losses = [record["loss"] for record in run.history]
    assert [record["epoch"] for record in run.history] == list(range(1, 61))
    assert losses[-1] < 0.98 * losses[0]
    assert losses[-1] == min(losses) or losses[-1] < losses[5]


@pytest.mark.parametrize("hidden", [ORDERS, [(300, 40), (300, 40)]])
def test_a_run_is_the_same_alone_and_in_company(images, hidden):
    runs = [TrainingRun(h, seed, (5,)) for seed, h in enumerate(hidden)]
    together = train_runs(source_of(images), runs, options(), CPU)
    for run, trained in zip(runs, together, strict=True):
        (alone,) = train_runs(source_of(images), [run], options(), CPU)
        assert same(alone, trained, 5)


def test_snapshots_are_those_of_a_shorter_training(images):
    (long,) = train_runs(
        source_of(images), [TrainingRun((12, 8), 0, (3, 7))], options("constant"), CPU
    )
    (short,) = train_runs(
        source_of(images), [TrainingRun((12, 8), 0, (3,))], options("constant"), CPU
    )
    assert sorted(long.encoders) == [3, 7]
    assert same(long, short, 3)
    assert not torch.equal(long.encoders[3].layers[0][0], long.encoders[7].layers[0][0])


def test_a_run_kept_on_the_way_has_a_constant_rate(images):
    run = TrainingRun((12, 8), 0, (3, 7))
    results = [
        train_runs(source_of(images), [run], options(schedule), CPU)[0]
        for schedule in ("one-cycle", "constant")
    ]
    assert same(*results, 7)


def test_other_seeds_give_other_weights(images):
    runs = [TrainingRun((12, 8), seed, (2,)) for seed in (0, 1)]
    first, second = train_runs(source_of(images), runs, options(), CPU)
    assert not same(first, second, 2)


@pytest.mark.parametrize("batch_size", [32, 1500])
@pytest.mark.parametrize("hidden", [(12, 8, 10), (600, 40, 10)])
def test_the_number_of_helpers_changes_nothing(images, hidden, batch_size):
    run = TrainingRun(hidden, 0, (3,))
    wide = np.tile(images, (batch_size // 100 + 1, 40))
    chosen = replace(options(), batch_size=batch_size)
    (one,) = train_runs(source_of(wide), [run], chosen, CPU)
    for number in (2, 3):
        with helpers(number):
            (other,) = train_runs(source_of(wide), [run], chosen, CPU)
        assert same(one, other, 3)


def test_global_generators_are_left_alone(images):
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 - the point is the global state
    states = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    train_runs(source_of(images), [TrainingRun((12, 8), 0, (2,))], options(), CPU)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert (np.random.get_state()[1] == states[1]).all()  # noqa: NPY002


def test_who_trains_with_whom():
    small = [TrainingRun(order, 0, (4,)) for order in ORDERS]
    large = [TrainingRun((500, 300), i, (4,)) for i in range(2)]
    longer = [TrainingRun((300, 500), 0, (9,))]
    deeper = [TrainingRun((300, 500, 20, 20), 0, (4,))]
    kept = [TrainingRun((12, 8, 10), 0, (2, 4))]
    runs = small + large + longer + deeper + kept
    on_cpu = plan_groups(runs, CPU)
    assert on_cpu == [[0, 1, 2, 3, 4, 5], [6], [7], [8], [9], [10]]
    on_gpu = plan_groups(runs, GPU)
    assert on_gpu == [[0, 1, 2, 3, 4, 5], [6, 7], [8], [9], [10]]


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    assert torch.get_num_threads() == 2, "the number of threads was changed"
    torch.set_num_threads(before)


def test_large_runs_train_side_by_side(images, two_threads):
    runs = [TrainingRun((300, 40), seed, (3,)) for seed in range(4)]
    seen = []

    def on_epoch(numbers, epoch, losses):
        seen.append((tuple(numbers), epoch, threading.current_thread().name))

    with own_threads():
        together = train_runs(source_of(images), runs, options(), CPU, on_epoch)
    for run, trained in zip(runs, together, strict=True):
        (alone,) = train_runs(source_of(images), [run], options(), CPU)
        assert same(alone, trained, 3)
        assert alone.history == trained.history
    assert sorted(s[:2] for s in seen) == [
        ((i,), e) for i in range(4) for e in (1, 2, 3)
    ]
    assert len({s[2] for s in seen}) == 2


def test_an_error_in_one_run_ends_the_others(images, two_threads):
    epochs = []

    def on_epoch(numbers, epoch, losses):
        epochs.append(epoch)
        if len(epochs) == 3:
            raise KeyboardInterrupt

    runs = [TrainingRun((300, 40), seed, (500,)) for seed in range(4)]
    with pytest.raises(KeyboardInterrupt), own_threads():
        train_runs(source_of(images), runs, options(), CPU, on_epoch)
    assert len(epochs) < 20
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("scedae")]


def test_squared_error_for_rows_that_are_not_bounded(rng):
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 9))
    source = source_of(X)
    run = TrainingRun((16, 8), 0, (80,))
    (trained,) = train_runs(source, [run], options(bounded=False), CPU)
    assert trained.history[-1]["loss"] < 0.5 * trained.history[0]["loss"]


def test_bfloat16_needs_a_gpu(images):
    chosen = replace(options(), precision="bfloat16")
    with pytest.raises(ValueError, match="needs a GPU with Triton"):
        train_runs(source_of(images), [TrainingRun((12, 8), 0, (2,))], chosen, CPU)
