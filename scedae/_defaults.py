"""The rules behind every "auto", in one place. None of them looks at labels."""

from __future__ import annotations

from collections.abc import Sequence

SMALL_LAYERS = (50, 75, 100)
LARGE_LAYERS = (500, 750, 1000)

# Below this many rows the wide networks see too few gradient steps to be worth it.
SMALL_DATA_ROWS = 1500


def resolve_hidden_layers(
    hidden_layers: str | Sequence[int], n_rows: int
) -> tuple[int, ...]:
    """``"auto"``: the paper's small widths for small data, its large ones else."""
    if not isinstance(hidden_layers, str):
        return tuple(int(width) for width in hidden_layers)
    return SMALL_LAYERS if n_rows < SMALL_DATA_ROWS else LARGE_LAYERS


def resolve_epochs(epochs: str | int, n_rows: int, batch_size: int) -> int:
    """``"auto"``: enough gradient steps on small data, enough passes on large."""
    if not isinstance(epochs, str):
        return int(epochs)
    steps = max(n_rows // batch_size, 1)
    return min(max(-(-2000 // steps), 30), 300)


def resolve_landmarks(n_landmarks: str | int, n_rows: int) -> int:
    """``"auto"``: a quarter of the rows, between 100 and 1000."""
    if not isinstance(n_landmarks, str):
        return int(n_landmarks)
    return min(max(n_rows // 4, 100), 1000, n_rows)
