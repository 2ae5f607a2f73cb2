"""The rules behind every "auto", in one place. None of them looks at labels."""

from __future__ import annotations

from collections.abc import Sequence

# Multiples of 8 up to one of 16, as the vectors of a CPU like them.
SMALL_LAYERS = (48, 72, 96)
MEDIUM_LAYERS = (256, 384, 512)
LARGE_LAYERS = (500, 750, 1000)

# Below this many rows the narrow networks are as good, and a hundred times cheaper.
SMALL_DATA_ROWS = 5000
# Below this many columns there is less to say than the large ones could.
FEW_COLUMNS = 64

# Gradient steps that bring the codes where more of them change little.
_SMALL_WIDTH = 100
_SMALL_STEPS = 3000
_LARGE_STEPS = 1500
_MIN_EPOCHS = 30

# Small data get smaller batches, so that one epoch is never less than this.
_MIN_STEPS_PER_EPOCH = 8


def resolve_hidden_layers(
    hidden_layers: str | Sequence[int], n_rows: int, n_columns: int
) -> tuple[int, ...]:
    """``"auto"``: small below 5,000 rows, medium below 64 columns, else large."""
    if not isinstance(hidden_layers, str):
        return tuple(hidden_layers)
    if n_rows < SMALL_DATA_ROWS:
        return SMALL_LAYERS
    return MEDIUM_LAYERS if n_columns < FEW_COLUMNS else LARGE_LAYERS


def resolve_batch_size(batch_size: int, n_rows: int) -> int:
    """The batch asked for, but never more than an eighth of the rows."""
    return max(min(batch_size, n_rows // _MIN_STEPS_PER_EPOCH), 1)


def resolve_epochs(
    epochs: str | int, hidden_layers: Sequence[int], n_rows: int, batch_size: int
) -> int:
    """``"auto"``: 3,000 gradient steps for small networks, 1,500 for large ones.

    But at least 30 passes over the rows.
    """
    if not isinstance(epochs, str):
        return int(epochs)
    small = max(hidden_layers) <= _SMALL_WIDTH
    n_steps = _SMALL_STEPS if small else _LARGE_STEPS
    per_epoch = max(n_rows // batch_size, 1)
    return max(-(-n_steps // per_epoch), _MIN_EPOCHS)


def resolve_landmarks(n_landmarks: str | int, n_rows: int) -> int:
    """``"auto"``: a quarter of the rows, between 100 and 1,000."""
    if not isinstance(n_landmarks, str):
        return int(n_landmarks)
    return min(max(n_rows // 4, 100), 1000, n_rows)


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
