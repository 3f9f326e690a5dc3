"""Snapshots: the catalog as one signed file, for air-gapped networks."""
