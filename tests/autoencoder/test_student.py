"""The classifier behind *refine*: its gradients, and what it learns."""

import pytest
import torch

from scedae._autoencoder import Batches, Lesson, StudentTraining, encode, rounds
from scedae._autoencoder import student as module
from scedae._autoencoder.adam import learning_rates
from scedae._autoencoder.batches import Batch
from scedae._rows import TensorRows

WIDTHS = (5, 12, 9, 3)


class Source(TensorRows):
    """Rows that are scaled already."""

    def __init__(self, rows):
        super().__init__(rows, rows.dtype)

    device = torch.device("cpu")

    def epoch(self, number):
        return self


def a_lesson(n_rows, seed=0, n_classes=3):
    numbers = torch.Generator().manual_seed(seed)
    return Lesson(
        torch.randint(n_classes, (n_rows,), generator=numbers),
        (torch.rand(n_rows, generator=numbers) < 0.7).float(),
        0.3 + torch.rand(n_rows, generator=numbers),
        torch.tensor([0.5, 0.3, 0.2][:n_classes]),
    )


def a_training(lesson, batch_size, rates=None, widths=WIDTHS):
    rates = torch.zeros(10) if rates is None else rates
    numbers = torch.Generator().manual_seed(1)
    return StudentTraining(widths, lesson, batch_size, numbers, rates)


def reference_loss(layers, rows, lesson, index, directions):
    """The loss as the docstring has it, for autograd in double precision."""

    def answers(x):
        for i, (weight, bias) in enumerate(layers):
            x = x @ weight + bias
            x = x.relu() if i < len(layers) - 1 else x
        return x

    def divergence(p, log_q):
        return (p * (p.log() - log_q)).sum(1)

    log_p = answers(rows).log_softmax(1)
    p, radius = log_p.detach().exp(), lesson.radius[index][:, None].double()
    probe = 0.1 * radius * directions / directions.norm(dim=1, keepdim=True)
    probe.requires_grad_()
    change = divergence(p, answers(rows + probe).log_softmax(1)).sum()
    (uphill,) = torch.autograd.grad(change, probe)
    moved = rows + radius * uphill / uphill.norm(dim=1, keepdim=True)
    steady = divergence(p, answers(moved).log_softmax(1)).mean()
    taught = lesson.taught[index].double()
    labels = log_p.gather(1, lesson.labels[index][:, None])[:, 0]
    wrong = -(taught * labels).sum() / taught.sum()
    shares = lesson.shares.double()
    drift = (shares * (shares.log() - log_p.exp().mean(0).log())).sum()
    return wrong + 3 * steady + drift


@pytest.mark.parametrize("batch_size", [16, 21])
def test_gradients_are_those_of_the_loss(batch_size):
    rows = torch.randn(40, 5, generator=torch.Generator().manual_seed(2))
    lesson, index = a_lesson(40), torch.arange(40).roll(7)[:batch_size]
    training = a_training(lesson, batch_size)
    layers = [(w.double(), b.double()) for w, b in training.encoder().layers]
    for tensor in (tensor for layer in layers for tensor in layer):
        tensor.requires_grad_()
    training.load(0, Batch(rows[index][None, None], index[None, None]))
    directions = training._slots[0][1][0, 0].double()
    loss = reference_loss(layers, rows[index].double(), lesson, index, directions)
    loss.backward()

    training.run(0, 1)

    assert float(training.take_losses()) == pytest.approx(loss.item(), rel=1e-4)
    for (weight, bias), (found_w, found_b) in zip(
        layers, training._gradients, strict=True
    ):
        n_in, n_out = weight.shape
        torch.testing.assert_close(
            found_w[0, :n_in, :n_out].double(), weight.grad, rtol=2e-3, atol=2e-5
        )
        torch.testing.assert_close(
            found_b[0, 0, :n_out].double(), bias.grad, rtol=2e-3, atol=2e-5
        )


def trained(rows, lesson, n_epochs=40, batch_size=32, widths=(2, 16, 16, 2)):
    batches = Batches(Source(rows), [torch.Generator().manual_seed(0)], batch_size)
    n_steps = n_epochs * batches.steps_per_epoch
    rates = learning_rates(5e-3, "one-cycle", n_steps)
    training = a_training(lesson, batch_size, rates, widths)
    for _ in rounds(training, batches, n_epochs, torch.device("cpu")):
        loss = float(training.take_losses())
    return training.encoder(), loss


def two_moon_like(n_rows=240):
    """Two bands with a gap; the upper one is class 1."""
    numbers = torch.Generator().manual_seed(0)
    x = torch.rand(n_rows, 2, generator=numbers) * torch.tensor([4.0, 1.0])
    labels = torch.arange(n_rows) % 2
    x[:, 1] += 1.6 * labels + x[:, 0].sin()
    return x - x.mean(0), labels


def test_it_moves_the_border_into_the_gap():
    """Taught a few rows only, it finds the others by where no rows lie."""
    rows, labels = two_moon_like()
    taught = torch.zeros(len(rows))
    taught[:30] = 1
    shares = torch.tensor([0.5, 0.5])
    lesson = Lesson(labels, taught, torch.full((len(rows),), 0.3), shares)
    student, _ = trained(rows, lesson)
    found = encode(student, rows).argmax(1)
    assert (found == labels).float().mean() > 0.97


def test_shares_keep_a_class_alive(monkeypatch):
    """Nobody is taught the second class; its share alone says that it exists."""
    rows, labels = two_moon_like()
    taught = (labels == 0).float()
    lesson = Lesson(labels, taught, torch.zeros(len(rows)), torch.tensor([0.5, 0.5]))
    student, _ = trained(rows, lesson)
    found = encode(student, rows).argmax(1)
    assert (found == 1).float().mean() > 0.4
    monkeypatch.setattr(module, "_through_softmax", lambda chances, _: 0 * chances)
    student, _ = trained(rows, lesson)
    assert (encode(student, rows).argmax(1) == 1).float().mean() < 0.1


def test_rows_that_are_all_equal_teach_nothing_and_break_nothing():
    rows = torch.zeros(64, 2)
    lesson = Lesson(
        torch.arange(64) % 2, torch.ones(64), torch.zeros(64), torch.tensor([0.5, 0.5])
    )
    student, loss = trained(rows, lesson, n_epochs=3)
    assert torch.isfinite(encode(student, rows)).all()
    assert loss == loss


def test_a_training_repeats_itself():
    rows, labels = two_moon_like()
    lesson = Lesson(
        labels, torch.ones(len(rows)), torch.full((240,), 0.2), torch.tensor([0.5, 0.5])
    )
    first, second = (trained(rows, lesson, n_epochs=4)[0] for _ in range(2))
    for one, other in zip(first.layers, second.layers, strict=True):
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])
