"""Recordings of memory history, those that a failure leaves among them."""
