"""Views side by side, each scaled by what was learnt of it alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch

from scedae._rows.interface import Rows
from scedae._rows.scaling import Scaler


@dataclass(frozen=True)
class ViewScaler:
    """A scaler for each view of a wide row; what comes out stands side by side."""

    names: tuple[str, ...]
    parts: tuple[Scaler, ...]

    @property
    def n_columns(self) -> int:
        """Columns of what comes out."""
        return sum(part.n_columns for part in self.parts)

    @property
    def offset(self) -> torch.Tensor:
        """A raw row in the middle of all others, (d,)."""
        return torch.cat([part.offset for part in self.parts])

    @property
    def ends_bounded(self) -> bool:
        """Whether what comes out lies in [0, 1]."""
        return all(part.ends_bounded for part in self.parts)

    @property
    def turns(self) -> bool:
        return any(part.turns for part in self.parts)

    def columns_of(self, view: str | None) -> slice | None:
        """Which columns of what comes out are of a view; None: all of them."""
        if view is None:
            return None
        return self._places(lambda part: part.n_columns)[self.names.index(view)]

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        """Scaled float32 rows, of shape (n, n_columns)."""
        places = self._places(lambda part: len(part.offset))
        # Row after row, as each view lies alone: sums along a row keep their bits.
        return torch.cat(
            [
                part(block[:, place].contiguous())
                for part, place in zip(self.parts, places, strict=True)
            ],
            dim=1,
        )

    def only(self, names: Collection[str]) -> ViewScaler:
        """Some of the views, in their order."""
        kept = [name in names for name in self.names]
        pairs = zip(self.names, self.parts, kept, strict=True)
        chosen = [(name, part) for name, part, is_kept in pairs if is_kept]
        return ViewScaler(tuple(n for n, _ in chosen), tuple(p for _, p in chosen))

    def to(self, device: torch.device) -> ViewScaler:
        return ViewScaler(self.names, tuple(part.to(device) for part in self.parts))

    def _places(self, width: Callable[[Scaler], int]) -> list[slice]:
        ends = accumulate(map(width, self.parts), initial=0)
        return [slice(*ends_of_one) for ends_of_one in pairwise(ends)]


AnyScaler = Scaler | ViewScaler


def side_by_side(rows: Rows, scalers: Sequence[Scaler]) -> AnyScaler:
    """What scales rows of several views, or of one matrix, as a whole."""
    if not rows.views:
        (only,) = scalers
        return only
    return ViewScaler(tuple(view.name for view in rows.views), tuple(scalers))
