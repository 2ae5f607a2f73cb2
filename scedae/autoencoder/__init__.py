"""Autoencoders: networks, their training, and encoding. Knows nothing of clusters."""

from scedae.autoencoder.adam import SCHEDULES
from scedae.autoencoder.encoding import encode, is_collapsed
from scedae.autoencoder.network import Encoder, layer_widths
from scedae.autoencoder.training import (
    PRECISIONS,
    EpochHook,
    TrainedRun,
    TrainingOptions,
    TrainingRun,
    train_runs,
)

__all__ = [
    "PRECISIONS",
    "SCHEDULES",
    "Encoder",
    "EpochHook",
    "TrainedRun",
    "TrainingOptions",
    "TrainingRun",
    "encode",
    "is_collapsed",
    "layer_widths",
    "train_runs",
]
