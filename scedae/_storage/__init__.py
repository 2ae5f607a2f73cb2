"""What lies on disk: model files and checkpoints of trainings."""
