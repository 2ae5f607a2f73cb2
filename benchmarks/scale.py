"""Cost of growth: time and memory for n rows and m members.

    python benchmarks/scale.py                      n = 10^4 … 10^6, m = 1, 6, 30
    python benchmarks/scale.py --device cuda -o scale.jsonl
    python benchmarks/scale.py --plot scale.jsonl docs/scale.png

Rows are 10 clouds in 32 columns; members have hidden layers (48, 72, 96), one pass
over the rows, 200 landmarks. On the host every fit has a process of its own, so that
its memory is its own: the growth of resident memory beyond the input. On a GPU it is
the peak of allocated memory. A warm-up fit comes first.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import Stopwatch, device_name, resident_megabytes

from scedae import SCEDAE
from scedae.metrics import evaluate

ROWS = (10_000, 100_000, 1_000_000)
MEMBERS = (1, 6, 30)
N_COLUMNS, N_CLUSTERS = 32, 10


def clouds(n: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((N_CLUSTERS, N_COLUMNS)).astype("float32")
    y = generator.integers(N_CLUSTERS, size=n)
    noise = generator.standard_normal((n, N_COLUMNS), dtype=np.float32)
    return centres[y] + 0.5 * noise, y


def model(n_members: int, device: str) -> SCEDAE:
    return SCEDAE(
        N_CLUSTERS,
        n_members=n_members,
        hidden_layers=(48, 72, 96),
        epochs=1,
        n_landmarks=200,
        random_state=0,
        device=device,
    )


def measure(n: int, n_members: int, device: str) -> dict[str, Any]:
    X, y = clouds(n)
    model(n_members, device).fit(X[:5000])
    before = resident_megabytes()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with Stopwatch() as watch:
        fitted = model(n_members, device).fit(X)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    record = {
        "rows": n,
        "members": n_members,
        "seconds": round(watch.total, 2),
        "training_seconds": round(watch.training, 2),
        "input_megabytes": round(X.nbytes / 1e6, 1),
        "host_megabytes": round(max(peak - before, 0)),
        "acc": round(100 * evaluate(y, fitted.labels_)["acc"], 2),
        "device": device_name(device),
    }
    if device == "cuda":
        record["gpu_megabytes"] = round(torch.cuda.max_memory_allocated() / 1e6)
    return record


def in_a_process_of_its_own(n: int, n_members: int) -> str:
    command = [sys.executable, __file__, "--one", "--rows", str(n)]
    command += ["--members", str(n_members)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def plot(records: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    devices = list(dict.fromkeys(record["device"] for record in records))
    figure, axes = plt.subplots(
        len(devices), 2, figsize=(9, 3.4 * len(devices)), squeeze=False, sharex=True
    )
    for row, device in zip(axes, devices, strict=True):
        mine = [record for record in records if record["device"] == device]
        on_gpu = "gpu_megabytes" in mine[0]
        memory = "gpu_megabytes" if on_gpu else "host_megabytes"
        quantities = (("seconds", "seconds"), (memory, "peak memory, MB"))
        for axis, (key, name) in zip(row, quantities, strict=True):
            for colour, m in enumerate(sorted({record["members"] for record in mine})):
                line = sorted(
                    (record["rows"], max(record[key], 0.1))
                    for record in mine
                    if record["members"] == m
                )
                label = f"{m} member" + "s" * (m > 1)
                axis.loglog(
                    *zip(*line, strict=True), "o-", color=f"C{colour}", label=label
                )
            n, value = line[-1]
            reach = np.array([n / 100, n])
            axis.loglog(reach, value * reach / n, ":", color="grey", label="linear")
            axis.set_ylabel(name)
            axis.set_title(device, fontsize=9)
            axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("rows")
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--members", nargs="+", type=int, default=MEMBERS)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("-o", "--output", type=Path, default=Path("scale.jsonl"))
    parser.add_argument("--plot", nargs=2, type=Path, metavar=("RECORDS", "PICTURE"))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plot:
        lines = arguments.plot[0].read_text().splitlines()
        plot([json.loads(line) for line in lines], arguments.plot[1])
        return
    if arguments.one:
        (n,), (m,) = arguments.rows, arguments.members
        print(json.dumps(measure(n, m, arguments.device)))
        return
    for n in arguments.rows:
        for m in arguments.members:
            if arguments.device == "cuda":
                line = json.dumps(measure(n, m, "cuda")) + "\n"
            else:
                line = in_a_process_of_its_own(n, m)
            with arguments.output.open("a") as file:
                file.write(line)
            print(line, end="", flush=True)


if __name__ == "__main__":
    main()
