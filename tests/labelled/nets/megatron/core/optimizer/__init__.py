"""The optimizer of those buffers."""
