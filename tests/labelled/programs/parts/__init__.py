"""Recordings of a part of a program: begun late on purpose, or without a history of events."""
