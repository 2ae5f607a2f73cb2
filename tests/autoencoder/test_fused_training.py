"""The whole ensemble as one program on a GPU, against the plain operations."""

import threading

import numpy as np
import pytest
import torch

from scedae._autoencoder import TrainingOptions, TrainingRun, train_runs, training
from scedae._autoencoder.adam import learning_rates
from scedae._autoencoder.batches import Batch
from scedae._autoencoder.network import layer_widths
from scedae._autoencoder.stack_training import StackTraining
from scedae._autoencoder.stepping import walk
from scedae._rows import MemoryRows, ScaledRows, fit_scaler, gather_statistics, memory

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here"),
]

GPU = torch.device("cuda", 0)
RUNS = [
    TrainingRun(hidden, seed, (4,))
    for seed, hidden in enumerate([(130, 40, 70), (70, 130, 40), (300, 200, 5)])
]


@pytest.fixture
def images(rng):
    source = rng.random((1000, 5))
    return np.clip(source @ rng.random((5, 90)) / 3, 0, 1).astype("float32")


def source_of(X):
    rows = MemoryRows(X, GPU).brought()
    return ScaledRows(rows, fit_scaler(gather_statistics(rows), "auto"))


def options(precision="tf32"):
    return TrainingOptions(7, 100, 2e-3, "one-cycle", True, precision)


def batch_of(rows):
    return Batch(rows, torch.zeros(rows.shape[:3], dtype=torch.long, device=GPU))


def encoders_of(results, epoch=4):
    return [
        tensor
        for result in results
        for layer in result.encoders[epoch].layers
        for tensor in layer
    ]


def same(first, second):
    pairs = zip(encoders_of(first), encoders_of(second), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize(
    ("precision", "tolerance"), [("float32", 1e-3), ("tf32", 0.3), ("bfloat16", 0.3)]
)
@torch.no_grad()
def test_a_few_steps_equal_those_of_plain_operations(bounded, precision, tolerance):
    """Weights after five steps differ by a small part of what the steps moved them.

    Not each of them: Adam takes a step of its full rate however small a gradient is,
    so a weight whose gradient is mere rounding goes either way.
    """
    from scedae._autoencoder.fused_training import FusedTraining

    widths = [layer_widths(90, run.hidden_layers, 7) for run in RUNS]
    rates = learning_rates(1e-3, "constant", 5)
    rows = torch.rand(5, 3, 100, 90, generator=torch.Generator().manual_seed(0)).to(GPU)

    def generators():
        return [torch.Generator().manual_seed(seed) for seed in range(3)]

    fused = FusedTraining(
        widths, generators(), 100, rates, GPU, bounded=bounded, precision=precision
    )
    fused.load(0, batch_of(rows[:3]))
    fused.run(0, 3)
    fused.load(1, batch_of(rows[3:]))
    fused.run(1, 2)
    losses = fused.take_losses()
    assert not fused.take_losses().any()
    for member, generator in enumerate(generators()):
        plain = StackTraining(
            [widths[member]],
            widths[member],
            100,
            [generator],
            rates,
            GPU,
            bounded=bounded,
        )
        before = flattened(plain.encoder(0))
        plain.load(0, batch_of(rows[:, member : member + 1]))
        plain.run(0, 5)
        expected = plain.take_losses()[0]
        torch.testing.assert_close(
            losses[member], expected, rtol=tolerance / 10, atol=0
        )
        after = flattened(plain.encoder(0))
        moved = (after - before).abs().mean()
        apart = (after - flattened(fused.encoder(member))).abs().mean()
        assert apart <= tolerance * moved


def flattened(encoder):
    return torch.cat([tensor.flatten() for layer in encoder.layers for tensor in layer])


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
def test_a_run_is_the_same_alone_and_in_company(images, precision):
    together = train_runs(source_of(images), RUNS, options(precision), GPU)
    for run, trained in zip(RUNS, together, strict=True):
        alone = train_runs(source_of(images), [run], options(precision), GPU)
        assert same(alone, [trained])


def test_recorded_steps_equal_those_taken_one_by_one(images, monkeypatch):
    recorded = train_runs(source_of(images), RUNS, options(), GPU)
    monkeypatch.setattr(
        training, "replay", lambda t, b, n, device: walk(t, b, n, threading.Event())
    )
    assert same(recorded, train_runs(source_of(images), RUNS, options(), GPU))


def test_rows_on_the_host_give_the_same_weights(images, monkeypatch):
    resident = train_runs(source_of(images), RUNS, options(), GPU)
    monkeypatch.setattr(memory, "_GPU_SHARE", 0)
    source = source_of(images)
    assert source.device.type == "cpu"
    assert same(resident, train_runs(source, RUNS, options(), GPU))


def test_without_triton_it_trains_as_well(images, monkeypatch):
    fused = train_runs(source_of(images), RUNS, options("float32"), GPU)
    monkeypatch.setattr(training, "has_triton", lambda: False)
    plain = train_runs(source_of(images), RUNS, options("float32"), GPU)
    for ours, theirs in zip(fused, plain, strict=True):
        for a, b in zip(ours.history, theirs.history, strict=True):
            assert a["loss"] == pytest.approx(b["loss"], rel=1e-3)


def test_snapshots(images):
    run = TrainingRun((130, 40), 0, (2, 5))
    (kept,) = train_runs(source_of(images), [run], options(), GPU)
    assert sorted(kept.encoders) == [2, 5]
    assert [record["epoch"] for record in kept.history] == [1, 2, 3, 4, 5]
    first, second = kept.encoders[2].layers[0][0], kept.encoders[5].layers[0][0]
    assert not torch.equal(first, second)


def test_an_interruption_leaves_nothing_behind(images):
    def on_epoch(numbers, epoch, losses):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_runs(source_of(images), RUNS, options(), GPU, on_epoch)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("scedae")]


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@torch.no_grad()
def test_no_step_waits_for_the_gpu():
    from scedae._autoencoder.fused_training import FusedTraining

    generators = [torch.Generator().manual_seed(0)]
    fused = FusedTraining(
        [layer_widths(90, (130, 40), 7)],
        generators,
        100,
        learning_rates(1e-3, "constant", 5),
        GPU,
        bounded=True,
        precision="tf32",
    )
    fused.load(0, batch_of(torch.rand(3, 1, 100, 90, device=GPU)))
    fused.run(0, 1)  # compiles
    torch.cuda.set_sync_debug_mode("error")
    try:
        fused.load(0, batch_of(torch.rand(3, 1, 100, 90, device=GPU)))
        fused.run(0, 3)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert float(fused.take_losses()) > 0
