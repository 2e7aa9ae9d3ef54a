"""What is peculiar is the network, or what is kept beside it."""
