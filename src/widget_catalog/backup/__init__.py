"""Backups: creating, continuous backup, reading and restoring."""
