"""Nothing is trained."""
