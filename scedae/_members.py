"""From an ensemble strategy to the list of its members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

ENSEMBLES = ("structure", "initialization", "epochs", "landmarks")


@dataclass(frozen=True)
class MemberSpec:
    """One member of the ensemble, fully described.

    Members that agree in ``hidden_layers`` and ``initialization`` share one training:
    they are snapshots of it, or different landmarks on it.

    Parameters
    ----------
    hidden_layers : tuple of int
        Widths of the encoder's hidden layers; the decoder mirrors them. Empty for a
        member that works on the rows themselves.
    epochs : int
        Passes over the data after which the encoder is kept.
    n_landmarks : int
        Landmarks on this member's encoding.
    initialization : int, default=0
        Which of the possible random starts, and row orders, to use.
    """

    hidden_layers: tuple[int, ...]
    epochs: int
    n_landmarks: int
    initialization: int = 0


def plan_members(
    ensemble: str,
    n_members: int | None,
    hidden_layers: Sequence[int],
    epochs: int,
    n_landmarks: int,
) -> list[MemberSpec]:
    """The paper's four ensembles as lists of members.

    ``structure`` takes the orders of the hidden widths (6 of three), and starts over
    with another initialization when more are asked for; ``initialization`` varies the
    start alone; ``epochs`` keeps one training at equal distances; ``landmarks`` puts
    growing numbers of landmarks on one encoding.
    """
    hidden = tuple(hidden_layers)
    if ensemble == "structure":
        orders = list(dict.fromkeys(permutations(hidden)))
        count = n_members or len(orders)
        return [
            MemberSpec(orders[i % len(orders)], epochs, n_landmarks, i // len(orders))
            for i in range(count)
        ]
    count = n_members or 5
    if ensemble == "initialization":
        return [MemberSpec(hidden, epochs, n_landmarks, i) for i in range(count)]
    if ensemble == "epochs":
        kept = sorted({max(epochs * i // count, 1) for i in range(1, count + 1)})
        return [MemberSpec(hidden, epoch, n_landmarks) for epoch in kept]
    counts = [max(n_landmarks * i // count, 2) for i in range(1, count + 1)]
    return [MemberSpec(hidden, epochs, p) for p in counts]
