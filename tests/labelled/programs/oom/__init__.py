"""The card, CAPACITY bytes, is too small."""
