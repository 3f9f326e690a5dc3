"""Access tokens for machines."""
