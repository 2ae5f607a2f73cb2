"""Autoencoders: networks, their training, and encoding. Knows nothing of clusters."""

from scedae.autoencoder.encoding import encode, is_collapsed
from scedae.autoencoder.network import Encoder, layer_widths
from scedae.autoencoder.training import (
    SCHEDULES,
    EpochHook,
    TrainedRun,
    TrainingOptions,
    TrainingRun,
    train_runs,
)

__all__ = [
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
