"""Leaks of the second round, each beside its innocent twin."""
