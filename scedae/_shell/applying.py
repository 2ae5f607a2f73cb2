"""A fitted model as kernels on rows, wherever they live."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import torch

from scedae._rows import AnyScaler, Rows, on_scaled
from scedae._spectral import nearest


class FittedModel(Protocol):
    """What a fit leaves behind: coordinates of any rows, and centres among them."""

    @property
    def scaler(self) -> AnyScaler: ...

    @property
    def centers(self) -> torch.Tensor: ...

    def coordinates(self, rows: torch.Tensor) -> torch.Tensor: ...

    def labels(self, rows: torch.Tensor) -> torch.Tensor: ...

    def to(self, device: torch.device) -> FittedModel: ...


# What a model says of scaled rows that are where it is.
ModelKernel = Callable[[Any, torch.Tensor], Any]


def for_blocks(
    kernel: ModelKernel, model: FittedModel, rows: Rows
) -> Callable[[torch.Tensor], Any]:
    """The same for blocks of raw rows: the model goes where they are worked on."""
    model = model.to(rows.home)
    return on_scaled(rows, model.scaler, partial(_brought, kernel, model))


def _brought(kernel: ModelKernel, model: FittedModel, rows: torch.Tensor) -> Any:
    if model.centers.device != rows.device:  # on a worker
        model = model.to(rows.device)
    found = kernel(model, rows)
    for part in found if isinstance(found, tuple) else (found,):
        if not bool(torch.isfinite(part).all()):
            raise ValueError(
                "X cannot be placed: with this model its numbers become infinite. They "
                "lie too far from those of the fit, or the model was tampered with."
            )
    return found


def coordinates_of(model: FittedModel, rows: torch.Tensor) -> tuple[torch.Tensor]:
    return (model.coordinates(rows),)


def labels_of(model: FittedModel, rows: torch.Tensor) -> tuple[torch.Tensor]:
    return (model.labels(rows),)


def squared_distance_of(model: FittedModel, rows: torch.Tensor) -> torch.Tensor:
    """Sum of squared distances to the nearest centres, and the number of rows."""
    points = model.coordinates(rows)
    offsets = points - model.centers[nearest(points, model.centers)[:, 0]]
    return torch.tensor([float(offsets.square().sum()), len(rows)], dtype=torch.float64)
