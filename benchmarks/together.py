"""Members trained together against the same members one after another.

    python benchmarks/together.py                     digits, a shape, PenDigits, USPS
    python benchmarks/together.py --data digits --device cuda

Both ways take the same steps and end in the same weights; they alternate in one run,
and the median of the ratios is given, with the time over the arithmetic floor (the
products of the true widths at the rate of a large product in the same run).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import pairwise
from typing import Any

import torch
from measure import device_name, product_rate

from scedae import datasets
from scedae._autoencoder import TrainingOptions, TrainingRun, layer_widths, train_runs
from scedae._defaults import BASELINE, resolve_batch_size, resolve_hidden_layers
from scedae._members import plan_members
from scedae._rows import MemoryRows, ScaledRows, fit_scaler, gather_statistics
from scedae._threads import own_threads

DATA = {
    "digits": datasets.load_digits,
    "tetra": lambda: (datasets.lift(datasets.make_tetra(400, random_state=0)[0]), None),
    "pendigits": datasets.load_pendigits,
    "usps": datasets.load_usps,
}


def seconds(*arguments: Any) -> float:
    start = time.perf_counter()
    with own_threads():
        train_runs(*arguments)
    return time.perf_counter() - start


def measure(name: str, device: torch.device, n_steps: int, repeats: int) -> dict:
    rows = MemoryRows(DATA[name]()[0], device).brought()
    scaler = fit_scaler(gather_statistics(rows), "auto")
    source = ScaledRows(rows, scaler)
    batch = resolve_batch_size(256, rows.n_rows)
    precision = "tf32" if device.type == "cuda" else "float32"
    options = TrainingOptions(10, batch, 2e-3, "one-cycle", scaler.bounded, precision)
    hidden = resolve_hidden_layers("auto", rows.n_rows, rows.n_columns, BASELINE)
    epochs = max(n_steps // (rows.n_rows // batch), 1)
    specs = plan_members("structure", None, hidden, epochs, 2)
    runs = [TrainingRun(s.hidden_layers, i, (epochs,)) for i, s in enumerate(specs)]
    train_runs(source, runs[:1], options, device)  # compiles, where that is needed
    together, apart = [], []
    rate = product_rate(device=device.type, precision=precision)
    for _ in range(repeats):
        together.append(seconds(source, runs, options, device))
        apart.append(sum(seconds(source, [run], options, device) for run in runs))
    rate = (rate + product_rate(device=device.type, precision=precision)) / 2
    steps = epochs * (rows.n_rows // batch)
    flop = sum(
        6 * a * b * batch * steps
        for run in runs
        for a, b in pairwise(layer_widths(rows.n_columns, run.hidden_layers, 10))
    )
    ratios = [b / a for a, b in zip(together, apart, strict=True)]
    return {
        "data": name,
        "hidden_layers": hidden,
        "batch": batch,
        "steps": steps,
        "together_ms_a_step": round(1e3 * statistics.median(together) / steps, 2),
        "apart_ms_a_step": round(1e3 * statistics.median(apart) / steps, 2),
        "speed_up": round(statistics.median(ratios), 2),
        "speed_up_range": [round(min(ratios), 2), round(max(ratios), 2)],
        "over_floor": round(statistics.median(together) * rate / flop, 2),
        "device": device_name(device.type),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    device = torch.device(arguments.device, *([0] * (arguments.device == "cuda")))
    for name in arguments.data:
        record = measure(name, device, arguments.steps, arguments.repeats)
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
