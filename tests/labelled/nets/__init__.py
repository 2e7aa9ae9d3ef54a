"""Networks that several programs train."""
