"""Mirrors: a copy of another catalog (the upstream) that follows its changes."""
