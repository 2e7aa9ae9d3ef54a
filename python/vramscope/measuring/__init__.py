"""Time and memory of a model, measured: the loops, their clocks, and the text of the result."""
