"""Buffers of parameters and gradients."""
