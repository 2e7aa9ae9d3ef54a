"""Training and inference as several people write them: programs of the second round."""
