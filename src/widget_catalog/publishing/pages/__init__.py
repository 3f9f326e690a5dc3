"""Pages of authors."""
