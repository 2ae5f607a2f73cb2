"""Arrays of numpy: .npy files are mapped, .npz files read; nothing is unpickled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scedae._formats.reading import library_errors


def open_arrays(path: Path) -> np.memmap | dict[str, np.ndarray]:
    """An array that stays in its file, or those of an archive by name."""
    with library_errors():
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(found, np.memmap):
            return found
        with found:
            return dict(found)
