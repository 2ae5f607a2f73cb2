"""From an ensemble strategy to the list of its members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from numbers import Integral

# Four layers have 24 orders.
_MOST_LAYERS_TO_PERMUTE = 4

# Beyond any use: more members are a slip of the hand.
MOST_MEMBERS = 10_000

ENSEMBLES = ("structure", "initialization", "epochs", "landmarks")

# Hidden widths, the number of the random start, and the view.
Training = tuple[tuple[int, ...], int, str | None]


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
    view : str, default=None
        The view that this member sees, where the rows are given as several views;
        None: all of them, side by side.

    Examples
    --------
    >>> from scedae import SCEDAE, MemberSpec
    >>> own = [
    ...     MemberSpec(hidden_layers=(64, 32), epochs=20, n_landmarks=100),
    ...     MemberSpec(hidden_layers=(), epochs=0, n_landmarks=100),  # on the rows
    ... ]
    >>> model = SCEDAE(4, ensemble=own)
    """

    hidden_layers: tuple[int, ...]
    epochs: int
    n_landmarks: int
    initialization: int = 0
    view: str | None = None

    @property
    def training(self) -> Training:
        """Members that agree in this are parts of one training."""
        return self.hidden_layers, self.initialization, self.view

    @property
    def snapshot(self) -> tuple[Training, int]:
        """Members that agree in this have one encoder, and so one encoding."""
        return self.training, self.epochs

    def __post_init__(self) -> None:
        if not isinstance(self.hidden_layers, Iterable) or isinstance(
            self.hidden_layers, str
        ):
            raise ValueError(
                f"hidden_layers={self.hidden_layers!r} must be a sequence of widths."
            )
        # Plain Python numbers, whatever came: they go into JSON and into seeds.
        layers = tuple(_integer("hidden_layers", w, 1) for w in self.hidden_layers)
        object.__setattr__(self, "hidden_layers", layers)
        lowest = {"epochs": 1 if layers else 0, "n_landmarks": 2, "initialization": 0}
        for name, least in lowest.items():
            object.__setattr__(self, name, _integer(name, getattr(self, name), least))
        if self.view is not None and not isinstance(self.view, str):
            raise ValueError(f"view={self.view!r} must be the name of a view, or None.")


def _integer(name: str, value: object, least: int) -> int:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}.")
    return int(value)


def _orders(hidden: tuple[int, ...], at_most: int | None) -> list[tuple[int, ...]]:
    """Distinct orders of the widths, the given one first."""
    orders: dict[tuple[int, ...], None] = {}
    for order in permutations(hidden):
        orders[order] = None
        if len(orders) == at_most:
            break
    return list(orders)


def row_members(count: int, n_landmarks: int) -> list[MemberSpec]:
    """Members on the rows themselves, each with landmarks of its own."""
    return [MemberSpec((), 0, n_landmarks, i) for i in range(count)]


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
    start alone; ``epochs`` keeps one training at equal distances (fewer members, if
    there are fewer epochs); ``landmarks`` puts
    growing numbers of landmarks on one encoding.
    """
    hidden = tuple(hidden_layers)
    if ensemble == "structure":
        if n_members is None and len(hidden) > _MOST_LAYERS_TO_PERMUTE:
            raise ValueError(
                f"n_members=None takes every order of hidden_layers, too many for "
                f"{len(hidden)} of them: say how many members you want."
            )
        orders = _orders(hidden, n_members)
        count = n_members or len(orders)
        return [
            MemberSpec(orders[i % len(orders)], epochs, n_landmarks, i // len(orders))
            for i in range(count)
        ]
    assert n_members is not None, "only orders can be counted"
    count = n_members
    if ensemble == "initialization":
        return [MemberSpec(hidden, epochs, n_landmarks, i) for i in range(count)]
    if ensemble == "epochs":
        kept = sorted({max(epochs * i // count, 1) for i in range(1, count + 1)})
        return [MemberSpec(hidden, epoch, n_landmarks) for epoch in kept]
    counts = [max(n_landmarks * i // count, 2) for i in range(1, count + 1)]
    return [MemberSpec(hidden, epochs, p) for p in counts]
