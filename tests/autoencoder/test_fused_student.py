"""The network that refines as a few GPU kernels, against the plain operations."""

import threading

import pytest
import torch

from scedae._autoencoder import Batches, Lesson, StudentTraining, rounds, start_student
from scedae._autoencoder import student as module
from scedae._autoencoder.adam import learning_rates
from scedae._autoencoder.batches import Batch
from scedae._autoencoder.stepping import walk
from scedae._rows import TensorRows

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here"),
]

GPU = torch.device("cuda", 0)


class Source(TensorRows):
    """Rows that are scaled already, on the GPU."""

    def __init__(self, rows):
        super().__init__(rows, rows.dtype)

    device = GPU

    def epoch(self, number):
        return self


def a_lesson(n_rows, n_classes):
    numbers = torch.Generator().manual_seed(0)
    return Lesson(
        torch.randint(n_classes, (n_rows,), generator=numbers).to(GPU),
        (torch.rand(n_rows, generator=numbers) < 0.7).float().to(GPU),
        0.3 + torch.rand(n_rows, generator=numbers).to(GPU),
        (torch.rand(n_classes, generator=numbers) + 0.2).to(GPU) / n_classes,
    )


def rows_of(n_rows, n_columns):
    numbers = torch.Generator().manual_seed(2)
    return torch.randn(n_rows, n_columns, generator=numbers).to(GPU)


def flattened(encoder):
    return torch.cat([tensor.flatten() for layer in encoder.layers for tensor in layer])


@pytest.mark.parametrize(
    ("precision", "n_classes", "tolerance"),
    [
        # Of two classes the change is a sign, which rounding can turn.
        ("float32", 2, 0.05),
        ("float32", 10, 1e-3),
        ("float32", 100, 1e-3),
        *[(how, k, 0.3) for how in ("tf32", "bfloat16") for k in (2, 10, 100)],
    ],
)
@torch.no_grad()
def test_a_few_steps_equal_those_of_plain_operations(n_classes, precision, tolerance):
    """Weights after five steps differ by a small part of what the steps moved them."""
    widths, batch_size = (37, 200, 90, n_classes), 150
    lesson, rows = a_lesson(400, n_classes), rows_of(400, 37)
    rates = learning_rates(1e-3, "constant", 5)
    draw = torch.Generator().manual_seed(3)
    index = torch.stack(
        [torch.randperm(400, generator=draw)[:batch_size] for _ in range(5)]
    )
    index = index[:, None].to(GPU)
    found = []
    for start, how in ((start_student, precision), (StudentTraining, "float32")):
        numbers = torch.Generator().manual_seed(1)
        training = start(widths, lesson, batch_size, numbers, rates, precision=how)
        before = flattened(training.encoder(0))
        training.load(0, Batch(rows[index[:3]], index[:3]))
        training.run(0, 3)
        training.load(1, Batch(rows[index[3:]], index[3:]))
        training.run(1, 2)
        found.append((flattened(training.encoder(0)), training.take_losses()))
        assert not training.take_losses().any()
    (fused, fused_loss), (plain, plain_loss) = found
    torch.testing.assert_close(fused_loss, plain_loss, rtol=tolerance / 10, atol=0)
    moved = (plain - before).abs().mean()
    assert (fused - plain).abs().mean() <= tolerance * moved


def trained(n_epochs=3):
    # No multiple of 4: a step's rows begin anywhere in memory.
    rows, n_classes, batch_size = rows_of(500, 20), 4, 121
    batches = Batches(Source(rows), [torch.Generator().manual_seed(0)], batch_size)
    rates = learning_rates(2e-3, "one-cycle", n_epochs * batches.steps_per_epoch)
    training = start_student(
        (20, 64, 64, n_classes),
        a_lesson(500, n_classes),
        batch_size,
        torch.Generator().manual_seed(1),
        rates,
        precision="tf32",
    )
    with torch.no_grad():
        for _ in rounds(training, batches, n_epochs, GPU):
            pass
    return flattened(training.encoder(0))


def test_the_same_in_every_run_and_when_taken_one_by_one(monkeypatch):
    from scedae._autoencoder import training

    recorded = trained()
    assert torch.equal(recorded, trained())
    monkeypatch.setattr(
        training, "replay", lambda t, b, n, device: walk(t, b, n, threading.Event())
    )
    stepped = trained()
    # Directions are drawn for many steps at a time, so they are others.
    assert stepped.shape == recorded.shape and torch.isfinite(stepped).all()


def test_without_triton_it_learns_as_well(monkeypatch):
    monkeypatch.setattr(module, "has_triton", lambda: False)
    assert torch.isfinite(trained()).all()


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@torch.no_grad()
def test_no_step_waits_for_the_gpu():
    rows, index = rows_of(200, 20), torch.arange(200, device=GPU).view(2, 1, 100)
    training = start_student(
        (20, 64, 64, 3),
        a_lesson(200, 3),
        100,
        torch.Generator().manual_seed(1),
        learning_rates(1e-3, "constant", 5),
        precision="tf32",
    )
    batch = Batch(rows[index], index)
    training.load(0, batch)
    training.run(0, 1)  # compiles
    torch.cuda.set_sync_debug_mode("error")
    try:
        training.load(0, batch)
        training.run(0, 2)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert float(training.take_losses()) > 0
