"""What the programs behind the published numbers of DCN, IDEC and DKM compute.

    python benchmarks/published_programs.py --data usps --device cuda
    python benchmarks/published_programs.py dcn dkm --data mnist --seeds 3

Written anew from what those programs do (DCN and DKM: Moradi Fard et al., 2018; IDEC:
Guo et al., 2017), in plain torch with autograd and with nothing of scedae but rows and
scores, so that a difference to :mod:`scedae.baselines` can be located. All seeds train
side by side. What is unlike the publications' text, and kept here:

- DCN: of every batch a single row gets a new label and moves its centre; all other rows
  keep theirs. The labels of the end are those kept, so that after k-means on the codes
  hardly one changes, and without pretraining (random labels) half are never looked at.
- DCN and DKM: a batch is drawn anew from all rows, there are no passes; codes and
  distances are those of the last step that saw a row; Adam goes on from pretraining.
- IDEC: batches follow the order of the rows.

The published scores of DCN and DKM are of nine tenths of the rows (the others served to
choose λ); these are of all rows.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from scedae.datasets import load_mnist, load_usps
from scedae.metrics import clustering_accuracy

HIDDEN, WIDTH, BATCH = (500, 500, 2000), 10, 256
PRETRAINING = 50  # epochs
# Of DCN, with and without pretraining: as many as DKM has in the same table.
DCN_EPOCHS = {True: 100, False: 200}

# Values of the rows: lowest and highest. IDEC's program divides grey levels by 50.
RANGES = {
    ("usps", "idec"): (-1.0, 1.0),
    ("usps", "dcn"): (-1.0, 1.0),
    ("usps", "dkm"): (-1.0, 1.0),
    ("mnist", "idec"): (0.0, 5.1),
}


class Networks:
    """One autoencoder a seed; a product of all of them is one call."""

    def __init__(self, n_columns: int, seeds: list[int], device: torch.device) -> None:
        outward = [n_columns, *HIDDEN, WIDTH]
        sizes = [*outward, *outward[-2::-1]]
        self.half = len(outward) - 1
        weights = [
            self._weights(a, b, seeds, i).to(device)
            for i, (a, b) in enumerate(pairwise(sizes))
        ]
        self.layers = [(w, w.new_zeros(len(seeds), 1, w.shape[2])) for w in weights]
        for tensor in self.parameters():
            tensor.requires_grad_()

    @staticmethod
    def _weights(n_in: int, n_out: int, seeds: list[int], layer: int) -> torch.Tensor:
        """Uniform, as wide as Glorot has it; biases begin at nought."""
        bound = math.sqrt(6 / (n_in + n_out))
        drawn = [
            torch.empty(n_in, n_out).uniform_(
                -bound, bound, generator=torch.Generator().manual_seed(97 * s + layer)
            )
            for s in seeds
        ]
        return torch.stack(drawn)

    def parameters(self) -> list[torch.Tensor]:
        return [tensor for layer in self.layers for tensor in layer]

    def encode(self, rows: torch.Tensor) -> torch.Tensor:
        return self._through(rows, self.layers[: self.half])

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        return self._through(codes, self.layers[self.half :])

    @staticmethod
    def _through(values: torch.Tensor, layers: list) -> torch.Tensor:
        for i, (weight, bias) in enumerate(layers):
            values = torch.baddbmm(bias, values, weight)
            if i + 1 < len(layers):
                values = values.relu()
        return values


class Program:
    """Rows, networks and the random numbers of all seeds."""

    def __init__(self, rows: np.ndarray, seeds: list[int], device: torch.device):
        self.rows = torch.from_numpy(rows.astype(np.float32)).to(device)
        self.n, self.seeds, self.device = len(rows), seeds, device
        self.networks = Networks(rows.shape[1], seeds, device)
        self.steps = math.ceil(self.n / BATCH)  # an "epoch"
        self._drawing = [torch.Generator().manual_seed(s) for s in seeds]

    def drawn(self) -> torch.Tensor:
        """Rows of a batch for each seed, all different within it, (seeds, BATCH)."""
        own = [_sample(self.n, BATCH, g) for g in self._drawing]
        return torch.stack(own).to(self.device)

    def uniform(self, *shape: int) -> torch.Tensor:
        own = [torch.empty(shape).uniform_(-1, 1, generator=g) for g in self._drawing]
        return torch.stack(own).to(self.device)

    def random_labels(self, k: int) -> torch.Tensor:
        own = [torch.randint(k, (self.n,), generator=g) for g in self._drawing]
        return torch.stack(own).to(self.device)

    def kmeans(self, codes: torch.Tensor, k: int, n_starts: int) -> list[KMeans]:
        def fit(pair: tuple[int, np.ndarray]) -> KMeans:
            return KMeans(k, n_init=n_starts, random_state=pair[0]).fit(pair[1])

        with ThreadPoolExecutor() as pool:
            pairs = zip(self.seeds, codes.double().cpu().numpy(), strict=True)
            return list(pool.map(fit, pairs))


def _sample(n: int, size: int, generator: torch.Generator) -> torch.Tensor:
    """``size`` of ``n`` numbers without repetition, without shuffling all of them."""
    found = torch.randint(n, (2 * size,), generator=generator).unique()
    return found[torch.randperm(len(found), generator=generator)[:size]]


def squared(codes: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Squared distances (seeds, rows, k)."""
    return (codes[:, :, None] - centers[:, None]).square().sum(3)


def of_rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Entries of (seeds, n, …) at (seeds, BATCH)."""
    return table[torch.arange(len(table), device=table.device)[:, None], index]


def put(table: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> None:
    table[torch.arange(len(table), device=table.device)[:, None], index] = values


def pretrained(program: Program, adam: torch.optim.Optimizer) -> torch.Tensor:
    """Codes of all rows, each of the last step that saw it."""
    seeds, networks = len(program.seeds), program.networks
    kept = program.rows.new_zeros(seeds, program.n, WIDTH)
    for _ in range(PRETRAINING * program.steps):
        index = program.drawn()
        batch = program.rows[index]
        codes = networks.encode(batch)
        error = (networks.decode(codes) - batch).square().sum(2).mean(1)
        _step(adam, error)
        put(kept, index, codes.detach())
    return kept


def _step(optimizer: torch.optim.Optimizer, losses: torch.Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    losses.sum().backward()  # seeds share nothing: the sum leaves gradients apart
    optimizer.step()


def _adam(tensors: list[torch.Tensor]) -> torch.optim.Adam:
    fused = tensors[0].is_cuda
    return torch.optim.Adam(tensors, lr=1e-3, eps=1e-8, fused=fused)


Labels = dict[str, np.ndarray]  # (seeds, n) by what they are


def dkm(program: Program, k: int, pretrain: bool) -> Labels:
    """λ 1 and a fixed α after pretraining, else λ 0.1 and an annealed one."""
    found: Labels = {}
    centers = program.uniform(k, WIDTH).requires_grad_()
    adam = _adam([*program.networks.parameters(), centers])
    alphas, weight = _annealed(), 0.1
    if pretrain:
        models = program.kmeans(pretrained(program, adam), k, 10)
        found["codes"] = np.stack([m.labels_ for m in models])
        _place(centers, models)
        alphas, weight = [1000.0] * 20, 1.0
    kept = program.rows.new_zeros(len(program.seeds), program.n, k)
    for alpha in alphas:
        for _ in range(5 * program.steps):
            index = program.drawn()
            batch = program.rows[index]
            codes = program.networks.encode(batch)
            error = (program.networks.decode(codes) - batch).square().sum(2).mean(1)
            distances = squared(codes, centers)
            soft = (distances * torch.softmax(-alpha * distances, 2)).sum(2).mean(1)
            _step(adam, error + weight * soft)
            put(kept, index, distances.detach())
    found["end"] = kept.argmin(2).cpu().numpy()
    return found


def _annealed() -> list[float]:
    alphas = [0.1]
    for i in range(1, 40):
        alphas.append(2 ** (1 / math.log(i + 1) ** 2) * alphas[-1])
    return alphas


def _place(centers: torch.Tensor, models: list[KMeans]) -> None:
    with torch.no_grad():
        places = np.stack([m.cluster_centers_ for m in models])
        centers.copy_(torch.from_numpy(places))


def dcn(program: Program, k: int, pretrain: bool, every_row: bool = False) -> Labels:
    """λ 0.1; labels of one row a batch are renewed, or of all its rows."""
    found: Labels = {}
    centers = program.uniform(k, WIDTH).requires_grad_()
    labels = program.random_labels(k)
    adam = _adam([*program.networks.parameters(), centers])
    if pretrain:
        models = program.kmeans(pretrained(program, adam), k, 10)
        found["codes"] = np.stack([m.labels_ for m in models])
        _place(centers, models)
        labels = torch.from_numpy(found["codes"]).to(program.device, torch.int64)
    count = centers.detach().new_full((len(labels), k), 100.0)
    seen = torch.zeros_like(labels, dtype=torch.bool)
    for _ in range(DCN_EPOCHS[pretrain] * program.steps):
        index = program.drawn()
        batch = program.rows[index]
        codes = program.networks.encode(batch)
        error = (program.networks.decode(codes) - batch).square().sum(2).mean(1)
        own = of_rows(centers, of_rows(labels, index))
        pull = (codes - own).square().sum(2).mean(1)
        _step(adam, error + 0.1 * pull)
        renewed = slice(None) if every_row else slice(-1, None)
        with torch.no_grad():
            _renew(index[:, renewed], codes[:, renewed], labels, centers, count)
            put(seen, index[:, renewed], torch.ones_like(seen[:, :1]))
    found["end"] = labels.cpu().numpy()
    found["seen"] = seen.cpu().numpy()
    return found


def _renew(
    index: torch.Tensor,
    codes: torch.Tensor,
    labels: torch.Tensor,
    centers: torch.Tensor,
    count: torch.Tensor,
) -> None:
    """New labels of some rows; their centres go a part of the way to them."""
    nearest = squared(codes, centers).argmin(2)
    put(labels, index, nearest)
    member = torch.nn.functional.one_hot(nearest, centers.shape[1]).to(codes)
    total = count[:, :, None] * centers + member.mT @ codes
    count += member.sum(1)
    centers.copy_(total / count[:, :, None])


def idec(program: Program, k: int, pretrain: bool, *, descent: bool) -> Labels:
    """γ 0.1, 20,000 steps at most; gradient descent and an interval of 30 on USPS."""
    found: Labels = {}
    networks = program.networks
    if pretrain:
        pretrained(program, _adam(networks.parameters()))
    codes = _all_codes(program)
    models = program.kmeans(codes, k, 20)
    found["codes"] = np.stack([m.labels_ for m in models])
    centers = codes.new_zeros(len(models), k, WIDTH)
    _place(centers, models)
    tensors = [*networks.parameters(), centers.requires_grad_()]
    optimizer = torch.optim.SGD(tensors, 0.1, 0.99) if descent else _adam(tensors)
    interval, target = 30 if descent else 140, torch.empty(0)
    labels = torch.from_numpy(found["codes"]).to(program.device, torch.int64)
    done = torch.zeros(len(models), dtype=torch.bool, device=program.device)
    blocks = _in_order(program)
    for step in range(20_000):
        if step % interval == 0:
            q = _student(_all_codes(program), centers.detach())
            target, now = _sharpened(q), q.argmax(2)
            changed = (now != labels).float().mean(1)
            labels = torch.where(done[:, None], labels, now)
            done |= (changed < 1e-3) & (step > 0)
            if bool(done.all()):
                break
        index = next(blocks)
        batch = program.rows[index].expand(len(models), -1, -1)
        codes = networks.encode(batch)
        error = (networks.decode(codes) - batch).square().mean(2).mean(1)
        p, q = target[:, index], _student(codes, centers)
        divergence = (torch.xlogy(p, p) - p * q.clamp_min(1e-7).log()).sum(2).mean(1)
        _step(optimizer, error + 0.1 * divergence)
    found["end"] = labels.cpu().numpy()
    return found


def _in_order(program: Program) -> Iterator[torch.Tensor]:
    while True:
        yield from torch.arange(program.n, device=program.device).split(BATCH)


@torch.no_grad()
def _all_codes(program: Program) -> torch.Tensor:
    blocks = program.rows.split(1 << 13)
    seeds = len(program.seeds)
    return torch.cat(
        [program.networks.encode(b.expand(seeds, -1, -1)) for b in blocks], 1
    )


def _student(codes: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    closeness = 1 / (1 + squared(codes, centers))
    return closeness / closeness.sum(2, keepdim=True)


def _sharpened(q: torch.Tensor) -> torch.Tensor:
    weights = q.square() / q.sum(1, keepdim=True)
    return weights / weights.sum(2, keepdim=True)


def _program(name: str, data: str) -> Callable[[Program, int, bool], Labels]:
    if name == "idec":
        return lambda *a: idec(*a, descent=data == "usps")
    if name == "dcn-every-row":
        return lambda *a: dcn(*a, every_row=True)
    return {"dcn": dcn, "dkm": dkm}[name]


def measured(method: str, data: str, seeds: list[int], device: str) -> list[dict]:
    """A line a seed: accuracy and NMI of the codes, and of the labels of the end."""
    name = method.removesuffix("-pretrained")
    low, high = RANGES.get((data, name.split("-")[0]), (0.0, 1.0))
    X, classes = {"usps": load_usps, "mnist": load_mnist}[data]("all")
    start = time.perf_counter()
    program = Program(low + (high - low) * X, seeds, torch.device(device))
    k = len(np.unique(classes))
    found = _program(name, data)(program, k, method != name)
    seconds, seen = time.perf_counter() - start, found.pop("seen", None)
    lines = []
    for i, seed in enumerate(seeds):
        line: dict = {"program": method, "data": data, "seed": seed}
        for stage, labels in found.items():
            accuracy = clustering_accuracy(classes, labels[i])
            nmi = normalized_mutual_info_score(classes, labels[i])
            line[stage] = [round(100 * float(v), 2) for v in (accuracy, nmi)]
        if seen is not None:
            line["rows_relabelled"] = round(float(seen[i].mean()), 4)
        line |= {"seconds": round(seconds / len(seeds), 1), "device": device}
        lines.append(line)
    return lines


METHODS = [
    name + suffix for suffix in ("", "-pretrained") for name in ("dcn", "idec", "dkm")
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", default=METHODS, metavar="METHOD")
    parser.add_argument(
        "--data", nargs="+", default=["usps"], choices=["usps", "mnist"]
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="lines are appended here as well")
    chosen = parser.parse_args()
    for data in chosen.data:
        for method in chosen.methods:
            lines = measured(method, data, list(range(chosen.seeds)), chosen.device)
            text = "".join(json.dumps(line) + "\n" for line in lines)
            print(text, end="", flush=True)
            if chosen.out:
                with chosen.out.open("a") as file:
                    file.write(text)


if __name__ == "__main__":
    main()
