"""Bring rows of any kind into the range an autoencoder can learn.

The rule behind ``scale="auto"`` looks at the values alone, in one pass, and takes
the first line that fits:

1. columns were scaled one by one, so that no two share a unit (equal deviations, or
   each from exactly 0 to 1 and not of these two values alone): ``power``, see below;
2. every value lies in [0, 1] already (scaled pixels, TF-IDF): ``none``, as it is;
3. no value is negative, at least half are zero, and the largest is over ten times
   the mean of the positive ones (counts): ``log``, that is log(1 + x) over its
   maximum;
4. the columns share a unit and the values are bounded (pixels, pen positions,
   log-normalised expression): ``range``, one offset and one factor for all columns;
5. anything else (unbounded, or columns of different units): ``power``, that is
   ``standard``, each column centred and divided by its deviation, cut at ten
   deviations, and then what ``marginals`` says of skewed columns and of few values;
   ``standard`` alone, where nothing is to be mended, or where all columns share a unit
   and none has few values.

Asked for on other values, ``none`` only centres the columns, which no distance notices;
``raw`` leaves every value alone, whatever it is.
Columns *share a unit* when the median column spans at least a tenth of the common
range. Values are *bounded* when that range is at most six standard deviations wide,
or when they are not negative and at least half of them are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from scedae._device import resolve_device
from scedae._numerics import lengths
from scedae._rows.directions import Directions
from scedae._rows.marginals import Marginals
from scedae._rows.statistics import Statistics

if TYPE_CHECKING:
    from scedae._rows.view_scaler import AnyScaler

SCALES = ("auto", "none", "raw", "range", "log", "minmax", "l2", "standard", "power")

# Farther from the centre no square fits into float32.
_LARGEST = 1e18
_STANDARD_LIMIT = 10.0
# Deviations of columns that were standardised differ by less than this factor, and of
# fewer columns it may be chance.
_EQUAL, _FEWEST_SCALED = 1.001, 3
# What is left of 0 and 1 in columns that were brought there.
_ROUNDING = 1e-6


def _share_a_unit(low: torch.Tensor, high: torch.Tensor) -> bool:
    spans = (high - low)[high > low]
    common = float(high.max() - low.min())
    return len(spans) > 0 and float(spans.median()) >= common / 10


def is_one_unit(statistics: Statistics) -> bool:
    """Whether all columns share a unit, as far as their values tell."""
    alike = _share_a_unit(statistics.minimum, statistics.maximum)
    return alike and not _were_scaled_one_by_one(statistics)


def _were_scaled_one_by_one(statistics: Statistics) -> bool:
    """Whether several columns have one deviation, or one range from 0 to 1."""
    varies = statistics.variance > 0
    if int(varies.sum()) < _FEWEST_SCALED:
        return False
    widths = statistics.variance[varies].sqrt()
    low, high = statistics.minimum[varies], statistics.maximum[varies]
    # Of two values, 0 and 1, the variance follows from the mean.
    mean = statistics.mean[varies]
    flags_alone = torch.allclose(widths.square(), mean * (1 - mean))
    off = torch.maximum(low.abs(), (high - 1).abs())
    from_0_to_1 = bool((off < _ROUNDING).all()) and not flags_alone
    return from_0_to_1 or bool(widths.max() < _EQUAL * widths.min())


def choose_scale(statistics: Statistics) -> str:
    """The rule of ``scale="auto"``, as written at the top of this file."""
    low, high = statistics.minimum, statistics.maximum
    if _were_scaled_one_by_one(statistics):
        return "power"
    if statistics.low >= 0 and statistics.high <= 1:
        return "none"
    mostly_zero = statistics.low >= 0 and statistics.zero_share >= 0.5
    if mostly_zero and statistics.high > 10 * statistics.positive_mean:
        return "log" if _share_a_unit(low.log1p(), high.log1p()) else "power"
    span = statistics.high - statistics.low
    bounded = mostly_zero or span <= 6 * statistics.deviation
    return "range" if bounded and _share_a_unit(low, high) else "power"


@dataclass(frozen=True)
class Scaler:
    """A fitted scaling; it treats every row by itself.

    ``bounded`` says that scaled columns of training rows lie in [0, 1]. New rows
    beyond the training range are cut to it. ``marginals`` bend and weigh standardised
    columns. With ``directions`` the scaled rows are turned, and there may be fewer
    columns than before.
    """

    kind: str
    bounded: bool
    offset: torch.Tensor  # (d,) float64
    factor: torch.Tensor  # (d,) float64
    directions: Directions | None = None
    marginals: Marginals | None = None

    @property
    def n_columns(self) -> int:
        """Columns of what comes out."""
        if self.directions is None:
            return len(self.offset)
        return self.directions.n_directions

    @property
    def turns(self) -> bool:
        """Whether rows are turned to their principal directions, which takes long."""
        return self.directions is not None

    @property
    def standardises(self) -> bool:
        """Whether columns are centred and divided by their deviations."""
        return self.kind in ("standard", "power")

    @property
    def ends_bounded(self) -> bool:
        """Whether what comes out lies in [0, 1].

        A network then ends in a sigmoid with binary cross-entropy, otherwise in a
        linear layer with squared error.
        """
        return self.bounded and self.directions is None

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        """Scaled float32 rows, of shape (n, n_columns)."""
        columns = self._scaled(block)
        return columns if self.directions is None else self.directions(columns)

    def _scaled(self, block: torch.Tensor) -> torch.Tensor:
        if self.kind == "log":
            # In double precision, so that no last bit depends on the place of a row.
            block = block.double().clamp(min=0).log1p()
        if self.kind == "l2":
            norm = lengths(block)
            block = block / norm.masked_fill(norm == 0, 1)
        else:
            block = (block - self.offset.to(block)) * self.factor.to(block)
        if self.bounded:
            block = block.clamp(0, 1)
        else:
            limit = _STANDARD_LIMIT if self.standardises else _LARGEST
            block = block.clamp(-limit, limit)
        if self.marginals is not None:
            block = self.marginals(block)
        return block.float()

    def to(self, device: torch.device) -> Scaler:
        return replace(
            self,
            offset=self.offset.to(device),
            factor=self.factor.to(device),
            directions=self.directions and self.directions.to(device),
            marginals=self.marginals and self.marginals.to(device),
        )


def _inverse(span: torch.Tensor) -> torch.Tensor:
    """1 / span, and 0 where a column is constant."""
    return torch.where(span > 0, 1 / span, 0)


def fit_scaler(statistics: Statistics, scale: str) -> Scaler:
    """A scaler of the kind asked for, or of the kind the rule chooses.

    What ``power`` does beyond ``standard`` is learnt from rows: ``learn_scaler``.
    """
    kind = choose_scale(statistics) if scale == "auto" else scale
    low, high = statistics.minimum, statistics.maximum
    offset, factor = torch.zeros_like(low), torch.ones_like(low)
    bounded = True
    if not bool(torch.isfinite(statistics.variance).all()):
        raise ValueError(
            "X has values so large that their squares overflow: divide X by a constant."
        )
    if kind in ("none", "raw"):
        bounded = kind == "none" and statistics.low >= 0 and statistics.high <= 1
        if kind == "none" and not bounded:
            # Centred before the cast to float32: no distance notices, and a column
            # like 1e9 + {0, 1} keeps its digits.
            offset = statistics.mean
        if max(-statistics.low, statistics.high) > _LARGEST:
            raise ValueError(
                f"X has values beyond 1e18, too large for scale={kind!r}: use "
                "scale='standard'."
            )
    elif kind == "l2":
        bounded = statistics.low >= 0
    elif kind == "range":
        offset = low.min().expand_as(low).clone()
        factor = _inverse((high.max() - low.min()).expand_as(low))
    elif kind == "log":
        if statistics.low < 0:
            raise ValueError(
                "scale='log' is for counts, but X has negative values: use "
                "scale='standard'."
            )
        factor = _inverse(high.max().log1p().expand_as(low))
    elif kind == "minmax":
        offset, factor = low, _inverse(high - low)
    else:
        bounded = False
        offset, factor = statistics.mean, _inverse(statistics.variance.sqrt())
        # A column that is constant up to rounding must not be blown up to noise.
        scale_of_values = torch.maximum(low.abs(), high.abs())
        factor[statistics.variance.sqrt() <= 1e-12 * scale_of_values] = 0
    return Scaler(kind, bounded, offset, factor)


@dataclass(frozen=True)
class Scaling:
    """How a raw block becomes what the networks see: moved, then scaled.

    A device by name is looked up where the work is done, which may be on a worker.
    """

    scaler: AnyScaler
    dtype: torch.dtype  # wide enough for the numbers until they are scaled
    device: torch.device | str

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        moved = block.to(self.place, non_blocking=True)
        # Row after row also of a frame, which lies column after column: sums along
        # a row would differ in their last bit.
        return self.scaler(moved.to(self.dtype).contiguous())

    @property
    def place(self) -> torch.device:
        if isinstance(self.device, torch.device):
            return self.device
        return resolve_device(self.device)
