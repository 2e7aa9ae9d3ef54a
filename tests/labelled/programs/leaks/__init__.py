"""Something is kept in each step, or only seems to be (the twins)."""
