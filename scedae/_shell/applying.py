"""A fitted model as kernels on rows, for rows that are here and rows elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import torch

from scedae._rows import OnScaled, Scaler, Scaling, Stream
from scedae._spectral import nearest


class FittedModel(Protocol):
    """What a fit leaves behind: coordinates of any rows, and centres among them."""

    @property
    def scaler(self) -> Scaler: ...

    @property
    def centers(self) -> torch.Tensor: ...

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor: ...

    def to(self, device: torch.device) -> FittedModel: ...


# What a model says of scaled rows that are where it is.
ModelKernel = Callable[[Any, torch.Tensor], Any]


def for_blocks(kernel: ModelKernel, model: FittedModel, rows: Stream) -> OnScaled:
    """The same for raw rows somewhere else: the model goes where they are."""
    scaling = Scaling(model.scaler, rows.dtype, rows.device)
    return OnScaled(partial(_brought, kernel, model), scaling)


def _brought(kernel: ModelKernel, model: FittedModel, rows: torch.Tensor) -> Any:
    return kernel(model.to(rows.device), rows)


def coordinates_of(model: FittedModel, rows: torch.Tensor) -> tuple[torch.Tensor]:
    return (model.coordinates(rows),)


def labels_of(model: FittedModel, rows: torch.Tensor) -> tuple[torch.Tensor]:
    return (nearest(model.coordinates(rows), model.centers)[:, 0],)


def squared_distance_of(model: FittedModel, rows: torch.Tensor) -> torch.Tensor:
    """Sum of squared distances to the nearest centres, and the number of rows."""
    points = model.coordinates(rows)
    offsets = points - model.centers[nearest(points, model.centers)[:, 0]]
    return torch.tensor([float(offsets.square().sum()), len(rows)], dtype=torch.float64)
