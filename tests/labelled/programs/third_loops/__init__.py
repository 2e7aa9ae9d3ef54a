"""Training and inference as they are found in public repositories: programs of the third round."""
