"""Backups: creating, reading and restoring."""
