"""What is kept, and beside it the same program that keeps nothing: programs of the third round."""
