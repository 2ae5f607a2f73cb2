"""What the user says of columns: which are clustered, what the others are for."""

from __future__ import annotations

from dataclasses import dataclass

from scedae.cli.checks import require_columns
from scedae.cli.messages import InputError
from scedae.cli.sources import Source


@dataclass(frozen=True)
class Choice:
    """Which columns are what; no columns means all that are left."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id_column: str | None = None
    labels: str | None = None
    describe: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def features(self, source: Source, present: list[str]) -> list[str]:
        """Names of the columns to cluster, in the order asked for or of the file."""
        special = [name for name in (self.id_column, self.labels) if name is not None]
        named = (*self.drop, *self.describe, *self.numeric, *self.categorical)
        require_columns(source, [*self.columns, *named], present)
        if len(set(self.columns)) < len(self.columns):
            twice = next(c for c in self.columns if self.columns.count(c) > 1)
            raise InputError(f"column {twice!r} is in --columns twice.")
        if wrong := set(self.columns) & {*special, *self.describe}:
            raise InputError(
                f"column {min(wrong)!r} cannot be in --columns too: ids, labels and "
                "columns that describe are never clustered."
            )
        left_out = {*self.drop, *self.describe, *special}
        if wrong := left_out & {*self.numeric, *self.categorical}:
            raise InputError(
                f"column {min(wrong)!r} is left out: it cannot be in --numeric or "
                "--categorical too."
            )
        chosen = [c for c in self.columns or present if c not in left_out]
        if not chosen:
            raise InputError(f"{source.given}: no columns are left to cluster.")
        return chosen

    def told(self, chosen: list[str]) -> dict[str, list[str]]:
        """What a ``TableEncoder`` is told of the columns it gets."""
        return {
            "numeric": [name for name in self.numeric if name in chosen],
            "categorical": [name for name in self.categorical if name in chosen],
        }


@dataclass(frozen=True)
class Reading:
    """How cells are read; what is None or "auto" is found by looking."""

    separator: str | None = None
    header: bool | None = None
    decimal: str = "auto"
    na_values: tuple[str, ...] = ()
    impute: str = "median"
    sheet: str | None = None
