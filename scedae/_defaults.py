"""The rules behind every "auto", in one place. None of them looks at labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

# Multiples of 8 up to one of 16, as the vectors of a CPU like them.
SMALL_LAYERS = (48, 72, 96)
MEDIUM_LAYERS = (256, 384, 512)
LARGE_LAYERS = (500, 750, 1000)

# Below this many rows the narrow networks are as good, and a hundred times cheaper.
SMALL_DATA_ROWS = 5000
# Below this many columns there is less to say than the large ones could.
FEW_COLUMNS = 64

_SMALL_WIDTH = 100

# The largest number of clusters that n_clusters="auto" looks at.
MOST_CLUSTERS = 30

# Members of an ensemble that has one structure, as published.
_MEMBERS_OF_ONE_STRUCTURE = 5

# λ of DKM with and without pretraining. Centres drawn at random have nothing to hold
# the codes apart: at the weight that suits pretrained ones they all fall together.
DKM_WEIGHTS = {True: 1.0, False: 0.1}

# Principal directions that say what many columns say: with 50 MNIST loses 0.3 points.
MOST_DIRECTIONS = 100

# Small data get smaller batches, so that one epoch is never less than this.
_MIN_STEPS_PER_EPOCH = 8

_FEWEST_LANDMARKS = 100
# Those of a graph that is to be coarse, however few the rows.
_FEWEST_OF_COARSE = 16
# With fewer landmarks for each cluster, clusters would share them.
_LANDMARKS_OF_A_CLUSTER = 3
# Beyond so many rows every pair of landmarks meets in some row, and the Gram matrix of
# many landmarks would take gigabytes.
_MANY_ROWS = 100_000
_MOST_LANDMARKS_OF_MANY_ROWS = 1000
# Rows that a landmark of the rows themselves may stand for. Codes are smooth, rows are
# not: with 17 rows a landmark such members see little and drag the others down.
_MOST_ROWS_OF_A_LANDMARK = 5


@dataclass(frozen=True)
class StudentPlan:
    """The networks that refine an answer, each taught by the one before it."""

    n_networks: int
    width: int
    batch_size: int
    learning_rate: float
    n_steps: int  # of each network


# For few rows, and for many: there these are the fewest steps, and a network passes
# over the rows so often. A GPU takes larger batches in the time of small ones.
_STUDENTS = {
    "full": (
        # With the bias, a multiple of a GPU's tiles where it is large.
        StudentPlan(2, 256, 256, 2e-3, 1500),
        StudentPlan(2, 1008, 1024, 4e-3, 750),
        44,
    ),
    "light": (
        StudentPlan(2, 128, 256, 3e-3, 500),
        StudentPlan(1, 512, 512, 4e-3, 1000),
        16,
    ),
}
_MOST_STUDENT_STEPS = 3000
# Of few columns a light one of this width says as much, at a third of the cost.
_NARROW_STUDENT = 256
# Fewer rows than these teach a network next to nothing: there it moved more labels away
# from the classes than towards them.
_FEWEST_REFINED = 600


@dataclass(frozen=True)
class Refining:
    """How an answer is refined."""

    precision: str
    kind: str = "full"  # or "light", for a CPU

    def student(self, n_rows: int, n_columns: int) -> StudentPlan:
        """The networks for rows of that number and width."""
        small, large, n_passes = _STUDENTS[self.kind]
        if n_rows < SMALL_DATA_ROWS:
            return small
        if n_columns < FEW_COLUMNS and self.kind == "light":
            large = replace(large, width=_NARROW_STUDENT)
        n_steps = max(n_passes * n_rows // large.batch_size, large.n_steps)
        return replace(large, n_steps=min(n_steps, _MOST_STUDENT_STEPS))


@dataclass(frozen=True)
class Scale:
    """How coarse a graph is: its landmarks, as a part of those planned, and ties."""

    n_neighbors: int
    divisor: int = 1
    # This part of the rows are landmarks themselves: nearest rows, no centres.
    of_rows: float = 0.0

    def landmarks_of(self, planned: int, n_clusters: int) -> int:
        """Landmarks of a member for which so many were planned."""
        fewest = max(_FEWEST_OF_COARSE, _LANDMARKS_OF_A_CLUSTER * n_clusters)
        return max(planned // self.divisor, min(planned, fewest))


# The graphs that are tried where nobody says which one: all planned landmarks with 3
# and with 5 neighbours, then a quarter and a sixteenth of them, and at last every row.
_SCALES = (
    Scale(3),
    Scale(5),
    Scale(5, 4),
    Scale(5, 16),
    Scale(5, of_rows=1.0),
    Scale(3, of_rows=1.0),
)

# The graphs that are tried before any network is trained: nearest rows, for each member
# among others, so that halves of the ensemble can differ.
NEAREST_ROWS = (Scale(5, of_rows=0.9), Scale(10, of_rows=0.9))
# Members that it has; rows, and rows times clusters, beyond which it would cost what
# networks cost.
_NEAREST_ROW_MEMBERS = 2
_MOST_NEAREST_ROWS = 100_000
_MOST_ROWS_TIMES_CLUSTERS = 1_000_000


@dataclass(frozen=True)
class Effort:
    """How much work every "auto" asks for; docs/guide/parameters.md shows it."""

    n_members: int  # autoencoders of an ensemble on structures
    n_row_members: int  # members on the rows themselves
    layers: tuple[int, ...]  # of networks for many rows and columns
    small_steps: int  # gradient steps of narrow networks
    large_steps: int  # and of all others
    min_epochs: int  # but at least so many passes over the rows
    rows_per_landmark: int
    most_landmarks: int
    refines: bool  # whether the answer is refined
    rows_first: bool = False  # whether networks are trained only if the rows need them
    students: str = "full"  # that refine it on a CPU; a GPU has time for full ones
    # Up to so many columns narrow networks are as good, however many the rows: letters
    # and pen strokes (16 columns) lose nothing, textures (40) two to four points.
    narrow_columns: int = 32


EFFORTS = {
    "fast": Effort(
        # Two networks on two cores take the time of one, three nearly that of two.
        n_members=2,
        n_row_members=2,
        # Widest first: of few orders and with few steps these are the better ones.
        layers=MEDIUM_LAYERS[::-1],
        small_steps=750,
        large_steps=750,
        min_epochs=8,
        rows_per_landmark=2,
        most_landmarks=4000,
        refines=False,
        rows_first=True,
        students="light",
    ),
    "default": Effort(
        n_members=6,
        n_row_members=3,
        # As good as the large ones after half as many passes, at half of the cost.
        layers=MEDIUM_LAYERS,
        small_steps=1500,
        large_steps=1500,
        min_epochs=60,
        rows_per_landmark=2,
        most_landmarks=4000,
        refines=True,
        rows_first=True,
        students="light",
    ),
    "best": Effort(
        n_members=12,
        n_row_members=6,
        layers=LARGE_LAYERS,
        small_steps=3000,
        large_steps=3000,
        min_epochs=100,
        rows_per_landmark=2,
        most_landmarks=8000,
        refines=True,
    ),
}
# With so many rows a CPU would train for a quarter of an hour. Fewer networks and
# passes are enough there, as the student makes up for them: MNIST ends at 97.8, where
# six networks after 60 passes have 97.7 without a student.
_LONG_ON_A_CPU = 14_000
_LEAN_MEMBERS = 3
_LEAN_EPOCHS = 12

# What the baselines take: rows that are not centred need more steps, networks are
# those of the publication, and LSC is published with up to 1,000 landmarks.
BASELINE = Effort(
    n_members=6,
    n_row_members=0,
    layers=LARGE_LAYERS,
    small_steps=3000,
    large_steps=1500,
    min_epochs=30,
    rows_per_landmark=4,
    most_landmarks=1000,
    refines=False,
    narrow_columns=0,  # not tried with rows that are not centred
)


def resolve_effort(effort: str, n_rows: int, refining: Refining | None) -> Effort:
    """The effort of that name; for many rows leaner, where a light student follows."""
    plan = EFFORTS[effort]
    if refining is None or refining.kind == "full" or n_rows < _LONG_ON_A_CPU:
        return plan
    return replace(
        plan,
        n_members=min(plan.n_members, _LEAN_MEMBERS),
        min_epochs=min(plan.min_epochs, _LEAN_EPOCHS),
    )


def resolve_hidden_layers(
    hidden_layers: str | Sequence[int], n_rows: int, n_columns: int, effort: Effort
) -> tuple[int, ...]:
    """``"auto"``: small for few rows or columns, medium below 64, else by effort."""
    if not isinstance(hidden_layers, str):
        return tuple(hidden_layers)
    if n_rows < SMALL_DATA_ROWS or n_columns <= effort.narrow_columns:
        return SMALL_LAYERS
    return MEDIUM_LAYERS if n_columns < FEW_COLUMNS else effort.layers


def resolve_members(
    n_members: int | None,
    ensemble: str,
    hidden_layers: str | Sequence[int],
    effort: Effort,
) -> int | None:
    """None: by effort or, of widths that were given, None again: every order."""
    if n_members is not None:
        return int(n_members)
    if ensemble != "structure":
        return _MEMBERS_OF_ONE_STRUCTURE
    return effort.n_members if isinstance(hidden_layers, str) else None


def resolve_batch_size(batch_size: int, n_rows: int) -> int:
    """The batch asked for, but never more than an eighth of the rows."""
    return max(min(batch_size, n_rows // _MIN_STEPS_PER_EPOCH), 1)


def resolve_epochs(
    epochs: str | int,
    hidden_layers: Sequence[int],
    n_rows: int,
    batch_size: int,
    effort: Effort,
) -> int:
    """``"auto"``: as many as the gradient steps of the effort need."""
    if not isinstance(epochs, str):
        return int(epochs)
    small = max(hidden_layers) <= _SMALL_WIDTH
    n_steps = effort.small_steps if small else effort.large_steps
    per_epoch = max(n_rows // batch_size, 1)
    return max(-(-n_steps // per_epoch), effort.min_epochs)


def resolve_landmarks(
    n_landmarks: str | int, n_rows: int, effort: Effort, n_columns: int | None = None
) -> int:
    """``"auto"``: a share of the rows, from 100 to what effort and memory allow.

    Where the columns are told, at most 100 · 2^columns: among more landmarks in a
    plane, a graph of three neighbours falls into crumbs.
    """
    if not isinstance(n_landmarks, str):
        return int(n_landmarks)
    share = max(n_rows // effort.rows_per_landmark, _FEWEST_LANDMARKS)
    if n_rows > _MANY_ROWS:
        share = _MOST_LANDMARKS_OF_MANY_ROWS
    if n_columns is not None:
        share = min(share, _FEWEST_LANDMARKS << min(n_columns, 16))
    return min(share, effort.most_landmarks, n_rows)


def resolve_scales(
    n_neighbors: str | int, *, landmarks_given: bool
) -> tuple[Scale, ...]:
    """``"auto"``: several graphs to choose from; what is given stays."""
    scales: tuple[Scale, ...] = _SCALES
    if not isinstance(n_neighbors, str):
        scales = tuple(replace(each, n_neighbors=int(n_neighbors)) for each in scales)
    if landmarks_given:
        scales = tuple(Scale(each.n_neighbors) for each in scales)
    return tuple(dict.fromkeys(scales))


def resolve_row_members(
    n_row_members: int | None,
    n_landmarks: int,
    n_rows: int,
    n_columns: int,
    effort: Effort,
) -> int:
    """None: those of the effort, where the landmarks lie dense enough; else none.

    Few columns are covered by few landmarks, however many the rows.
    """
    if n_row_members is not None:
        return n_row_members
    dense = n_rows <= _MOST_ROWS_OF_A_LANDMARK * n_landmarks
    covered = n_landmarks >= _FEWEST_LANDMARKS << min(n_columns, 16)
    return effort.n_row_members if dense or covered else 0


def resolve_rows_first(
    n_rows: int, n_columns: int, n_clusters: int, effort: Effort
) -> int:
    """Members on the rows that are tried before any network is; 0: none.

    Networks for few rows cost little. In few columns a graph of near rows falls into
    crumbs, as one of many landmarks does.
    """
    worth_it = SMALL_DATA_ROWS <= n_rows <= _MOST_NEAREST_ROWS
    worth_it &= n_rows * n_clusters <= _MOST_ROWS_TIMES_CLUSTERS
    holds = n_rows <= 2 * (_FEWEST_LANDMARKS << min(n_columns, 16))
    return _NEAREST_ROW_MEMBERS if worth_it and holds and effort.rows_first else 0


def resolve_refining(
    refine: str | bool,
    embedding: str,
    precision: str,
    device_type: str,
    effort: Effort,
    n_rows: int,
) -> Refining | None:
    """``"auto"``: by effort, where rows are not few; LSC stays as published."""
    if isinstance(refine, str):
        enough = n_rows >= _FEWEST_REFINED
        refine = embedding != "lsc" and effort.refines and enough
    if not refine:
        return None
    kind = effort.students if device_type == "cpu" else "full"
    return Refining(resolve_precision(precision, device_type), kind)


def resolve_precision(precision: str, device_type: str) -> str:
    """``"auto"``: TF32 on a GPU, float32 on a CPU."""
    if precision == "auto":
        return "tf32" if device_type == "cuda" else "float32"
    if device_type != "cuda" and precision != "float32":
        raise ValueError(
            f"precision={precision!r} needs a GPU, but this fit runs on the "
            f"{device_type}: use precision='auto'."
        )
    return precision
