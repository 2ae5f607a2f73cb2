"""Autoencoders: networks, their training, and encoding. Knows nothing of clusters."""

from scedae.autoencoder.adam import SCHEDULES, Adam, learning_rates
from scedae.autoencoder.batches import Batches
from scedae.autoencoder.encoding import encode, is_collapsed
from scedae.autoencoder.network import Encoder, layer_widths
from scedae.autoencoder.objective import CodeObjective
from scedae.autoencoder.stepping import Training
from scedae.autoencoder.training import (
    PRECISIONS,
    EpochHook,
    Journal,
    TrainedRun,
    TrainingOptions,
    TrainingRun,
    Unfinished,
    on_device,
    rounds,
    start_training,
    train_runs,
)

__all__ = [
    "PRECISIONS",
    "SCHEDULES",
    "Adam",
    "Batches",
    "CodeObjective",
    "Encoder",
    "EpochHook",
    "Journal",
    "TrainedRun",
    "Training",
    "TrainingOptions",
    "TrainingRun",
    "Unfinished",
    "encode",
    "is_collapsed",
    "layer_widths",
    "learning_rates",
    "on_device",
    "rounds",
    "start_training",
    "train_runs",
]
