"""Rows first: where near rows alone fall into clear clusters, no network is trained.

Every row is tied to its nearest rows, each member among nine tenths of them, and the
judge looks at the clusters of that graph. They are clear where few of their ties lead
out, none outgrows the others, and a few ties more make no other clusters: so it is with
pictures of digits, and there networks cost ten times as much and bring little or
nothing. Where the clusters are not clear (texts, cells, tables), networks are what
helps, and the fit goes on with them.
"""

from __future__ import annotations

import torch

from scedae import _spectral as spectral
from scedae._encoded import CodeRows, EncodedEnsemble, EncodedMember
from scedae._model import MemberReport, seen_columns
from scedae._prepared import Prepared
from scedae._rows import scaled

# Clear is: at most this part of a cluster's ties leads out of it, in the mean, no
# cluster is more than so many times as large as the others are in the mean, and the
# graphs agree on the clusters at least so well (adjusted Rand index).
_MOST_CUT, _MOST_TIMES, _LEAST_AGREEMENT = 0.1, 2.0, 0.93
# Where rows are turned to their principal directions, the first of these: which rows
# are near, the others blur.
_DIRECTIONS = 50


def rows_alone(start: Prepared) -> EncodedEnsemble:
    """Members on the rows, that see the leading directions of them."""
    rows = scaled(start.rows, start.scaler, start.seed).sample()
    columns = None
    if start.scaler.turns and rows.n_columns > _DIRECTIONS:
        columns = slice(0, _DIRECTIONS)
    seen = CodeRows(torch.cat([seen_columns(b, columns) for b in rows.blocks()]))
    members = [
        EncodedMember(spec, number, None, seen, columns)
        for number, spec in enumerate(start.first)
    ]
    reports = tuple(MemberReport(spec, (), collapsed=False) for spec in start.first)
    return EncodedEnsemble(members, reports, start.rows)


def is_clear(best: spectral.GraphCandidate, agreement: float, n_clusters: int) -> bool:
    """Whether clusters are cut off well, none outgrows the others, and graphs agree."""
    assert best.cut is not None and best.largest is not None, "the judge was asked"
    outgrows = spectral.times_the_others(best.largest, n_clusters) > _MOST_TIMES
    cut_off = best.cut <= _MOST_CUT
    return cut_off and not outgrows and agreement >= _LEAST_AGREEMENT
