"""A framework runs the loop, or lays out parameters and gradients."""
