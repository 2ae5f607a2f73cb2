"""What every fit starts from, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scedae._autoencoder import TrainingOptions
from scedae._members import MemberSpec
from scedae._progress import Progress
from scedae._rows import AnyScaler, Rows
from scedae._storage import Checkpoint


@dataclass(frozen=True)
class Prepared:
    """Rows and parameters after every check, with nothing left to resolve.

    The rows know on which device the work is done. ``rows_are_equal`` says that all
    rows are equal, so that constant codes are no sign of a collapse.
    """

    rows: Rows
    scaler: AnyScaler
    specs: Sequence[MemberSpec]
    training: TrainingOptions | None  # None: no member has a network
    seed: int
    rows_are_equal: bool = False
    progress: Progress = field(default_factory=Progress)
    checkpoint: Checkpoint | None = None
    # Members on the rows that are tried before any network is trained; none: it is not
    # to be avoided.
    first: Sequence[MemberSpec] = ()
    # What each view starts from, where the rows are several views side by side. The
    # members above are then those that see all views.
    views: tuple[Prepared, ...] = ()

    @property
    def all_specs(self) -> list[MemberSpec]:
        """Members of each view, then those that see everything."""
        return [spec for start in (*self.views, self) for spec in start.specs]
