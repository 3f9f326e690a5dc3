"""Backups: making them, keeping one up to date, reading and restoring them."""
