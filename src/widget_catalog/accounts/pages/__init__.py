"""Pages of signed-in people."""
