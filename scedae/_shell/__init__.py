"""What the estimators share: check, prepare, run the pipeline, store."""
