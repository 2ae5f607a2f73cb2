"""What the benchmarks share: a stopwatch for the verbs of a fit, and floors."""

from __future__ import annotations

import logging
import platform
import resource
import time
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

import torch

from scedae import _member_training
from scedae._autoencoder import layer_widths, train_runs


class Stopwatch(logging.Handler):
    """Seconds of each stage of one fit, and of the training inside ``encode``.

    Stages (the verbs, and ``near``, ``count``, ``refine``, ``label`` where there are
    such) are told by the fit's own log messages; the training is the fit's own
    ``train_runs`` with a clock around it. On a GPU a stage begins when the one before
    has handed its work over, which may not be done by then.
    """

    def __enter__(self) -> Self:
        self._started: dict[str, float] = {}
        self.training = 0.0
        logger = logging.getLogger("scedae")
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        _member_training.train_runs = self._train
        self._begin = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end = time.perf_counter()
        logging.getLogger("scedae").removeHandler(self)
        _member_training.train_runs = train_runs

    def emit(self, record: logging.LogRecord) -> None:
        self._started[record.getMessage().split()[0]] = time.perf_counter()

    def _train(self, *arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        trained = train_runs(*arguments, **named)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.training += time.perf_counter() - start
        return trained

    @property
    def stages(self) -> dict[str, float]:
        """Seconds of each, in order."""
        times = [*self._started.values(), self._end]
        return {
            v: b - a for v, (a, b) in zip(self._started, pairwise(times), strict=True)
        }

    def since(self, stage: str) -> float:
        """Seconds from the beginning of a stage to the end; none: it was not there."""
        return self._end - self._started.get(stage, self._end)

    @property
    def total(self) -> float:
        return self._end - self._begin

    @property
    def after_training(self) -> float:
        """Everything from the last step to the labels, and before the first stage."""
        return self.total - self.training


def n_steps(model: Any) -> int:
    """Gradient steps of one member."""
    spec = model.members_[0].spec
    return len(model.labels_) // model.batch_size * spec.epochs


def weights_of(model: Any, n_columns: int) -> int:
    """Weights of all members, without biases."""
    total = 0
    for report in model.members_:
        widths = layer_widths(n_columns, report.spec.hidden_layers, model.encoding_dim)
        total += sum(a * b for a, b in pairwise(widths))
    return total


def training_flop(model: Any, n_columns: int) -> float:
    """2 FLOP for each weight and row in each of a step's three products."""
    return 6 * weights_of(model, n_columns) * n_steps(model) * model.batch_size


def product_rate(
    size: int = 2048, repeats: int = 12, device: str = "cpu", precision: str = "float32"
) -> float:
    """FLOP a second of a large matrix product."""
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    a @ b
    seconds = timed(lambda: a @ b, repeats)
    torch.set_float32_matmul_precision(before)
    return 2 * size**3 / seconds


def timed(function: Any, repeats: int) -> float:
    """Seconds of one call, on the device it works on."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / repeats


def device_name(device: str) -> str:
    if device == "cuda":
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"


def processor_name() -> str:
    """The model of this machine's processor, with the widest vectors it has."""
    found: dict[str, str] = {}
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            found.setdefault(name.strip(), value.strip())
    flags = found.get("flags", "").split()
    vectors = next(
        (v for v in ("avx512f", "avx2", "sse4_2") if v in flags), "no vectors"
    )
    family, model = found.get("cpu family"), found.get("model")
    return f"{found.get('model name')} (family {family}, model {model}, {vectors})"


def resident_megabytes() -> float:
    """Resident memory of this process now."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * resource.getpagesize() / 1e6


def reset_peak() -> None:
    """Forget the peak of resident memory, so that the next one is of what follows."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak_megabytes() -> float:
    """Peak of this process's resident memory since ``reset_peak``."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6
