"""The rows at hand as each member sees them: what ``encode`` leaves to ``anchor``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from scedae._autoencoder import Encoder
from scedae._members import MemberSpec
from scedae._model import MemberReport
from scedae._rows import Rows, ScaledRows, TensorRows, ViewScaler, keep_views


class CodeRows(TensorRows):
    """Codes in memory, in the shape in which anchoring wants its rows."""

    def __init__(self, codes: torch.Tensor) -> None:
        super().__init__(codes, codes.dtype)
        self.codes = codes

    def blocks(self) -> Iterator[torch.Tensor]:
        yield self.codes


@dataclass(frozen=True)
class EncodedMember:
    """A member on its way: its encoding, by which it is anchored next."""

    spec: MemberSpec
    number: int
    encoder: Encoder | None
    encoding: ScaledRows | CodeRows
    columns: slice | None = None  # of scaled rows, that it sees; None: all of them

    @property
    def codes(self) -> torch.Tensor:
        """Codes of all rows (n, e), of a member that has an encoder."""
        assert isinstance(self.encoding, CodeRows)
        return self.encoding.codes


@dataclass(frozen=True)
class EncodedEnsemble:
    """The members that can be used, and how all of them fared."""

    members: list[EncodedMember]
    reports: tuple[MemberReport, ...]
    rows: Rows  # all of them; the encodings are of their sample

    def of_views(self, scaler: ViewScaler) -> EncodedEnsemble:
        """The members that see the views of a scaler, each by itself."""
        members = [
            replace(member, columns=scaler.columns_of(member.spec.view))
            for member in self.members
            if member.spec.view in scaler.names
        ]
        reports = [
            replace(report, left_out=report.spec.view not in scaler.names)
            for report in self.reports
        ]
        rows = keep_views(self.rows, scaler.names)
        return EncodedEnsemble(members, tuple(reports), rows)
