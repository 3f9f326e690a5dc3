"""Being a mirror: a copy of another catalog that follows its changes."""
