"""encode: train the members of an ensemble and encode all rows with each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from scedae._autoencoder import encode, is_collapsed
from scedae._encoded import CodeRows, EncodedEnsemble, EncodedMember
from scedae._member_training import Trained, train_members
from scedae._members import MemberSpec
from scedae._model import MemberReport
from scedae._prepared import Prepared
from scedae._rows import ScaledRows, ViewScaler, scaled
from scedae.exceptions import CollapsedEnsembleError, CollapsedMemberWarning, warn_user


def encode_members(start: Prepared) -> EncodedEnsemble:
    """encode: train every member, encode the sample, leave out what collapsed."""
    starts = [each for each in (*start.views, start) if each.specs]
    trained = [any(spec.hidden_layers for spec in each.specs) for each in starts]
    share = 1 / max(sum(trained), 1)
    found = [_encode_rows(each, share) for each in starts]
    return _joined(start, found) if start.views else found[0]


def _joined(start: Prepared, found: Sequence[EncodedEnsemble]) -> EncodedEnsemble:
    """The members of all views as one ensemble."""
    assert isinstance(start.scaler, ViewScaler)
    members, first = [], 0
    for encoded in found:
        members += [
            replace(
                member,
                number=first + member.number,
                columns=start.scaler.columns_of(member.spec.view),
            )
            for member in encoded.members
        ]
        first += len(encoded.reports)
    reports = tuple(report for encoded in found for report in encoded.reports)
    return EncodedEnsemble(members, reports, start.rows)


def _encode_rows(start: Prepared, share: float) -> EncodedEnsemble:
    source = scaled(start.rows, start.scaler, start.seed)
    trained = train_members(start, source, share)
    members = _encode(source.sample(), start.specs, trained)
    reports = tuple(
        _report(member, trained, rows_are_equal=start.rows_are_equal)
        for member in members
    )
    return EncodedEnsemble(_leave_out_collapsed(members, reports), reports, start.rows)


def _encode(
    source: ScaledRows,
    specs: Sequence[MemberSpec],
    trained: Trained,
) -> list[EncodedMember]:
    """Codes of every member, in one pass over the rows.

    Members that share an encoder share its codes too.
    """
    encoders = {
        spec.snapshot: trained[spec.training].encoders[spec.epochs]
        for spec in specs
        if spec.hidden_layers
    }
    parts: dict[object, list[torch.Tensor]] = {key: [] for key in encoders}
    if encoders:
        for block in source.blocks():
            for key, encoder in encoders.items():
                parts[key].append(encode(encoder, block))
    codes = {key: CodeRows(torch.cat(part)) for key, part in parts.items()}
    return [
        EncodedMember(
            spec,
            number,
            encoders.get(spec.snapshot),
            codes.get(spec.snapshot, source),
        )
        for number, spec in enumerate(specs)
    ]


def _report(
    member: EncodedMember,
    trained: Trained,
    *,
    rows_are_equal: bool,
) -> MemberReport:
    if not isinstance(member.encoding, CodeRows):
        return MemberReport(member.spec, (), collapsed=False)
    history = trained[member.spec.training].history[: member.spec.epochs]
    codes = member.encoding.codes
    collapsed = is_collapsed(codes)
    if rows_are_equal:
        collapsed = not bool(torch.isfinite(codes).all())
    return MemberReport(member.spec, tuple(history), collapsed)


def _leave_out_collapsed(
    encoded: list[EncodedMember], reports: Sequence[MemberReport]
) -> list[EncodedMember]:
    """The members that can be used; a poor one would poison the mean (Eq. 6)."""
    alive = [m for m, r in zip(encoded, reports, strict=True) if not r.collapsed]
    lost = [str(i) for i, report in enumerate(reports, 1) if report.collapsed]
    remedy = (
        "try a smaller learning_rate, other hidden_layers, or another scale "
        "(scale='standard' suits columns of different units)"
    )
    networks = [member.encoder is not None for member in encoded]
    if any(networks) and not any(m.encoder is not None for m in alive):
        raise CollapsedEnsembleError(
            "every autoencoder gave the same code, or no finite one, for all rows: "
            f"{remedy}."
        )
    if lost:
        warn_user(
            f"member {', '.join(lost)} of {len(encoded)} collapsed (its codes are "
            f"constant or not finite) and was left out: {remedy}.",
            CollapsedMemberWarning,
        )
    return alive
