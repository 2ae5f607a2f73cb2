"""Autoencoders: networks, their training, and encoding. Knows nothing of clusters."""

from scedae._autoencoder.adam import SCHEDULES, Adam, learning_rates
from scedae._autoencoder.batches import Batches
from scedae._autoencoder.encoding import encode, is_collapsed
from scedae._autoencoder.network import Encoder, layer_widths
from scedae._autoencoder.objective import CodeObjective
from scedae._autoencoder.stepping import Training
from scedae._autoencoder.student import Lesson, StudentTraining, start_student
from scedae._autoencoder.training import (
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
from scedae._autoencoder.variation import USUAL, Variation

__all__ = [
    "PRECISIONS",
    "SCHEDULES",
    "USUAL",
    "Adam",
    "Batches",
    "CodeObjective",
    "Encoder",
    "EpochHook",
    "Journal",
    "Lesson",
    "StudentTraining",
    "TrainedRun",
    "Training",
    "TrainingOptions",
    "TrainingRun",
    "Unfinished",
    "Variation",
    "encode",
    "is_collapsed",
    "layer_widths",
    "learning_rates",
    "on_device",
    "rounds",
    "start_student",
    "start_training",
    "train_runs",
]
