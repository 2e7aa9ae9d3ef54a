"""What is peculiar is the optimizer, or how it is called."""
