"""Accounts, sessions and signing in."""
