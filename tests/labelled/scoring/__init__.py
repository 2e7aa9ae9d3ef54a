"""What vramscope says of the labelled set, against the truth; `score` is the front."""
