"""The card, CAPACITY bytes, is too small: programs of the third round."""
