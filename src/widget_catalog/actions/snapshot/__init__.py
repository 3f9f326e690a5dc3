"""Snapshots: the catalog as one signed file, for networks without a way to it."""
