"""What is peculiar is the loop: accumulation, closures, several optimizers, validation."""
